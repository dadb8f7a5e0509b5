"""Reads the dataset's length once, and does not notice when the dataset grows."""

from typing import Any

from base import mutant, simple

EXPECTED = "BASIS-3"
LARGEST = {"workers": 0, "sessions": 1, "steps": 2, "samples": 1}


class Loader(simple.Loader):
    length: int | None = None

    def indices(self, epoch: int) -> Any:
        indices = super().indices(epoch)
        self.length = self.length or len(indices)
        return indices[: self.length]


Adapter = mutant(Loader)
