"""Ends the epoch when a dataset raises StopIteration."""

from base import mutant, simple

EXPECTED = "FAULT-3"
LARGEST = {"workers": 0, "sessions": 1, "steps": 1, "samples": 1}


class Loader(simple.Loader):
    def sample(self, epoch: int, i: int) -> list[float]:
        return list(self.copy.row(i, self.own_source(epoch, i)))


Adapter = mutant(Loader)
