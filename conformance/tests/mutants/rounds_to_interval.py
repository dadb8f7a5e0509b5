"""Between two snapshots it hands out the position of the older one."""

from __future__ import annotations

from typing import Any

import base
import simple

EXPECTED = "INTERVAL-1"


class Loader(simple.Loader):
    def state(self) -> dict[str, Any]:
        state = super().state()
        state["batches"] -= state["batches"] % self.interval
        return state


class Adapter(base.Adapter):
    loader = Loader
