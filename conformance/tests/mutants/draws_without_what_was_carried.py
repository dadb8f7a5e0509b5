"""Leaves samples that were carried into an epoch out of the rest of it: each comes once there."""

from base import mutant, simple

EXPECTED = "EPOCH-7"
LARGEST = {"workers": 0, "sessions": 2, "steps": 6, "samples": 3}


class Loader(simple.Loader):
    def indices(self, epoch: int) -> list[int]:
        carried = self.carried(epoch)
        return [i for i in super().indices(epoch) if i not in carried]


Adapter = mutant(Loader)
