"""Drops what an epoch leaves over, and says that it rolls over."""

from base import mutant, simple

EXPECTED = "EPOCH-6"
LARGEST = {"workers": 0, "sessions": 1, "steps": 4, "samples": 3}


class Loader(simple.Loader):
    def carried(self, epoch: int) -> list[int]:
        return []


Adapter = mutant(Loader)
