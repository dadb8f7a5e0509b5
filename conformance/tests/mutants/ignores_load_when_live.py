"""A state loaded while an epoch is open is dropped without a word."""

from __future__ import annotations

from typing import Any

import base
import simple

EXPECTED = "RESUME-5"


class Loader(simple.Loader):
    def load(self, state: Any) -> None:
        self.check(state)
        if self.live is None or self.live.over is not None:
            super().load(state)


class Adapter(base.Adapter):
    loader = Loader
