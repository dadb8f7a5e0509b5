"""Leaves a descriptor open at every close and every load."""

import os

from base import mutant, simple

EXPECTED = "FAULT-7"
LARGEST = {"workers": 0, "sessions": 1, "steps": 19, "samples": 1}
FIELD = ("pytorch#91252", "pytorch#973", "pytorch#65198", "pytorch#5040")


class Loader(simple.Loader):
    def stop(self) -> None:
        if self.live is not None:
            os.open(os.devnull, os.O_RDONLY)
        super().stop()

    close = stop


Adapter = mutant(Loader)
