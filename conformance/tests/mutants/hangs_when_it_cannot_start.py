"""Waits for ever when a dataset cannot be set up."""

import threading

from base import mutant, simple

EXPECTED = "FAULT-2"
LARGEST = {"workers": 0, "sessions": 1, "steps": 1, "samples": 13}
FIELD = ("litData#213",)


class Loader(simple.Loader):
    def restore(self) -> int:
        try:
            return super().restore()
        except RuntimeError:
            threading.Event().wait()
            raise


Adapter = mutant(Loader)
