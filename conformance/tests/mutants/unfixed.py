"""A good one beside ``base``: its order depends on the worker count, so it refuses any other."""

from __future__ import annotations

from typing import Any

import base
import simple


class Loader(simple.Loader):
    def indices(self, epoch: int) -> list[int]:
        indices = super().indices(epoch)
        return indices[self.workers :] + indices[: self.workers]

    def plan(self) -> dict[str, Any]:
        return {**super().plan(), "workers": self.workers}


class Adapter(base.Adapter):
    loader = Loader

    def offer(self) -> dict[str, Any]:
        return {**super().offer(), "fixed_plan": ()}
