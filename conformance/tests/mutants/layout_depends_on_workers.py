"""With workers its document has a field more."""

from __future__ import annotations

import format_base as base

EXPECTED = "DOC-2"


class Session(base.Session):
    def state(self) -> base.State:
        state = super().state()
        return {**state, "x-workers": self.loader.num_workers} if self.loader.num_workers else state


class Adapter(base.Adapter):
    session = Session
