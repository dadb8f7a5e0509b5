"""Skips a batch after a resume."""

from typing import Any

from base import mutant, simple

EXPECTED = "RESUME-1"
LARGEST = {"workers": 0, "sessions": 2, "steps": 5, "samples": 3}


class Loader(simple.Loader):
    def load(self, state: Any) -> None:
        super().load(state)
        if self.batches:
            self.batches += 1


Adapter = mutant(Loader)
