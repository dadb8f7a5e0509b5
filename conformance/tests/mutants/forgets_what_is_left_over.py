"""Says that it rolls over an epoch's leftover samples, but drops them."""

from base import mutant, simple

EXPECTED = "EPOCH-6"
LARGEST = {"workers": 0, "sessions": 2, "steps": 6, "samples": 3}


class Loader(simple.Loader):
    def carried(self, epoch: int) -> list[int]:
        return []


Adapter = mutant(Loader)
