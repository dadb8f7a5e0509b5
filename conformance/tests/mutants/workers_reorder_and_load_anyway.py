"""Says that its order depends on the worker count, and loads a state of any other."""

from __future__ import annotations

from typing import Any

import base
import simple

EXPECTED = "ELASTIC-2"
LARGEST = {"workers": 1, "sessions": 2, "steps": 5, "samples": 2}
FIELD = ("data#1455", "data#1372")


class Loader(simple.Loader):
    def indices(self, epoch: int) -> list[int]:
        indices = super().indices(epoch)
        return indices[self.workers :] + indices[: self.workers]


class Adapter(base.Adapter):
    loader = Loader

    def offer(self) -> dict[str, Any]:
        return {**super().offer(), "fixed_plan": ()}
