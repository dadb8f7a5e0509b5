"""A good loader whose order depends on the worker count, and which refuses any other count."""

from typing import Any

from base import mutant, simple


class Loader(simple.Loader):
    def indices(self, epoch: int) -> list[int]:
        indices = super().indices(epoch)
        return indices[self.workers :] + indices[: self.workers]

    def plan(self) -> dict[str, Any]:
        return {**super().plan(), "workers": self.workers}


Adapter = mutant(Loader, fixed_plan=())
