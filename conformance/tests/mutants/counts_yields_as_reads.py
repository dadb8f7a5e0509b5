"""Takes the samples that were delivered for those that a dataset has read."""

from __future__ import annotations

from typing import Any

import base
import simple

EXPECTED = "RESUME-1"
LARGEST = {"workers": 0, "sessions": 2, "steps": 5, "samples": 2}
FIELD = ("streaming#800",)


class Loader(simple.Loader):
    def capture(self) -> dict[str, Any]:
        states = super().capture()
        for state in states.values():
            if "read" in state:
                state["read"] = self.batches * self.batch_size
        return states


class Adapter(base.Adapter):
    loader = Loader
