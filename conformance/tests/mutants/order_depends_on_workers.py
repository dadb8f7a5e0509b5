"""Delivers another order for another number of workers."""

from base import mutant, simple

EXPECTED = "WORKERS-1"
LARGEST = {"workers": 1, "sessions": 2, "steps": 2, "samples": 2}
FIELD = ("order follows workers",)


class Loader(simple.Loader):
    def indices(self, epoch: int) -> list[int]:
        indices = super().indices(epoch)
        return indices[self.workers :] + indices[: self.workers]


Adapter = mutant(Loader)
