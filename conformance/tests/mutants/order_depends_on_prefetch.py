"""Delivers another order for another prefetch depth."""

from base import mutant, simple

EXPECTED = "WORKERS-2"
LARGEST = {"workers": 1, "sessions": 2, "steps": 2, "samples": 3}
FIELD = ("order follows workers",)


class Loader(simple.Loader):
    def indices(self, epoch: int) -> list[int]:
        indices = super().indices(epoch)
        return indices[self.prefetch :] + indices[: self.prefetch]


Adapter = mutant(Loader)
