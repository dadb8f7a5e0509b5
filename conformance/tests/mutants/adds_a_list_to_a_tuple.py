"""Raises a TypeError of Python's own before the first batch of a shuffled epoch."""

from typing import Any

from base import mutant, simple

EXPECTED = "BASIS-1"
LARGEST = {"workers": 0, "sessions": 1, "steps": 2, "samples": 0}


class Loader(simple.Loader):
    def order(self, epoch: int) -> Any:
        order, carried = super().order(epoch), tuple[Any, ...]()
        return carried + order if self.shuffle else order


Adapter = mutant(Loader)
