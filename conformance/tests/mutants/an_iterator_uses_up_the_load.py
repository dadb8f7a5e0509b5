"""Takes a loaded position for used when an iterator is made, and nothing of it is taken."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import format_base as base

EXPECTED = "RESUME-7"
LARGEST = {"workers": 0, "sessions": 2, "steps": 6, "samples": 2}
FIELD = ("pytorch-lightning#20550",)


class Session(base.Session):
    pending: base.State | None = None
    opened = False

    def load(self, state: Any) -> None:
        super().load(state)
        self.pending, self.opened = state, False

    def epoch(self) -> Iterator[Any]:
        if self.pending is not None and self.opened:
            start = {**self.pending["position"], "batches": 0, "samples": 0}
            super().load({**self.pending, "position": start})
            self.pending = None
        self.opened = True
        return map(self.taken, super().epoch())

    def taken(self, batch: Any) -> Any:
        self.pending = None
        return batch


class Adapter(base.Adapter):
    session = Session
