"""Loads a state of another batch size and counts in the new one."""

from __future__ import annotations

from typing import Any

import base
import simple

EXPECTED = "REFUSE-3"
LARGEST = {"workers": 0, "sessions": 2, "steps": 5, "samples": 2}
FIELD = ("another plan",)


class Loader(simple.Loader):
    def plan(self) -> dict[str, Any]:
        return {k: v for k, v in super().plan().items() if k != "batch_size"}


class Adapter(base.Adapter):
    loader = Loader
