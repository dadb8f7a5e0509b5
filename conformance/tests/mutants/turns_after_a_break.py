"""Delivers another order after an epoch that was left early, if it has workers."""

from base import mutant, simple

EXPECTED = "WORKERS-1"
LARGEST = {"workers": 1, "sessions": 2, "steps": 8, "samples": 2}
FIELD = ("order follows workers",)


class Loader(simple.Loader):
    left = False

    def __iter__(self) -> simple.Epoch:
        self.left = self.moved
        return super().__iter__()

    def indices(self, epoch: int) -> list[int]:
        indices = super().indices(epoch)
        return indices[::-1] if self.left and self.workers else indices


Adapter = mutant(Loader)
