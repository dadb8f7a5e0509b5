"""Has an order that depends on the worker count, but loads states of any worker count."""

from base import mutant, simple

EXPECTED = "ELASTIC-2"
LARGEST = {"workers": 1, "sessions": 2, "steps": 5, "samples": 2}
FIELD = ("data#1455", "data#1372")


class Loader(simple.Loader):
    def indices(self, epoch: int) -> list[int]:
        indices = super().indices(epoch)
        return indices[self.workers :] + indices[: self.workers]


Adapter = mutant(Loader, fixed_plan=())
