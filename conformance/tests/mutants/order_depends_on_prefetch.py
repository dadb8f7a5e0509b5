"""Another prefetch depth, another order."""

from __future__ import annotations

import base
import simple

EXPECTED = "WORKERS-2"


class Loader(simple.Loader):
    def indices(self, epoch: int) -> list[int]:
        indices = super().indices(epoch)
        return indices[self.prefetch :] + indices[: self.prefetch]


class Adapter(base.Adapter):
    loader = Loader
