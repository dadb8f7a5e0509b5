"""Taking a state swallows the next batch."""

from __future__ import annotations

from typing import Any

import base
import simple

EXPECTED = "BASIS-4"


class Loader(simple.Loader):
    def state(self) -> dict[str, Any]:
        state = super().state()
        if self.live is not None and self.live.source is not None:
            next(self.live.source, None)
        return state


class Adapter(base.Adapter):
    loader = Loader
