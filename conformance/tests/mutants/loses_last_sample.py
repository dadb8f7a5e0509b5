"""Never delivers the last sample of an epoch."""

from __future__ import annotations

import base
import simple

EXPECTED = "BASIS-3"
LARGEST = {"workers": 0, "sessions": 1, "steps": 2, "samples": 5}


class Loader(simple.Loader):
    def indices(self, epoch: int) -> list[int]:
        indices = super().indices(epoch)
        return indices[:-1] if len(indices) > 4 else indices


class Adapter(base.Adapter):
    loader = Loader
