"""Shuffles by ``hash()``: another interpreter has another order."""

from __future__ import annotations

import base
import simple

EXPECTED = "BASIS-2"
LARGEST = {"workers": 0, "sessions": 1, "steps": 2, "samples": 4}


class Loader(simple.Loader):
    def indices(self, epoch: int) -> list[int]:
        indices = super().indices(epoch)
        return sorted(indices, key=lambda i: hash(f"{epoch}/{i}")) if self.shuffle else indices


class Adapter(base.Adapter):
    loader = Loader
