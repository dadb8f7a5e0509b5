"""Drops what an epoch leaves over, and says that it rolls over."""

from __future__ import annotations

import base
import simple

EXPECTED = "EPOCH-6"
LARGEST = {"workers": 0, "sessions": 1, "steps": 4, "samples": 3}


class Loader(simple.Loader):
    def carried(self, epoch: int) -> list[int]:
        return []


class Adapter(base.Adapter):
    loader = Loader
