"""With workers its document has a field more."""

from __future__ import annotations

import format_base as base

EXPECTED = "DOC-2"
LARGEST = {"workers": 1, "sessions": 2, "steps": 10, "samples": 1}
FIELD = ("accelerate#3110",)


class Session(base.Session):
    def state(self) -> base.State:
        state = super().state()
        return {**state, "x-workers": self.loader.num_workers} if self.loader.num_workers else state


class Adapter(base.Adapter):
    session = Session
