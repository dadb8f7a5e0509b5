"""Counts the batches that its workers have fetched ahead as delivered."""

from __future__ import annotations

from typing import Any

import base
import simple

EXPECTED = "RESUME-1"


class Loader(simple.Loader):
    def state(self) -> dict[str, Any]:
        state = super().state()
        if self.moved:
            state["batches"] += self.workers
        return state


class Adapter(base.Adapter):
    loader = Loader
