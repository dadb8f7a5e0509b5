"""A good one beside ``base``: its order depends on the worker count, so it refuses any other."""

from typing import Any

from base import mutant, simple


class Loader(simple.Loader):
    def indices(self, epoch: int) -> list[int]:
        indices = super().indices(epoch)
        return indices[self.workers :] + indices[: self.workers]

    def plan(self) -> dict[str, Any]:
        return {**super().plan(), "workers": self.workers}


Adapter = mutant(Loader, fixed_plan=())
