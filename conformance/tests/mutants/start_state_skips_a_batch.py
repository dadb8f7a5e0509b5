"""A state taken before the first batch counts one."""

from __future__ import annotations

from typing import Any

import base
import simple

EXPECTED = "RESUME-4"
LARGEST = {"workers": 0, "sessions": 2, "steps": 4, "samples": 2}
FIELD = ("data#1260",)


class Loader(simple.Loader):
    def state(self) -> dict[str, Any]:
        state = super().state()
        if self.epoch == self.batches == 0:
            state["batches"] = 1
        return state


class Adapter(base.Adapter):
    loader = Loader
