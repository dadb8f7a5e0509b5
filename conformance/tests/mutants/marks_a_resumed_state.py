"""A state taken right after a load says that it was loaded."""

from __future__ import annotations

from typing import Any

import format_base as base

EXPECTED = "DOC-6"
LARGEST = {"workers": 0, "sessions": 2, "steps": 3, "samples": 1}
FIELD = ("data#1453", "Energon#126")


class Session(base.Session):
    resumed = False

    def load(self, state: Any) -> None:
        super().load(state)
        self.resumed = True

    def state(self) -> base.State:
        state = super().state()
        return {**state, "x-resumed": True} if self.resumed else state


class Adapter(base.Adapter):
    session = Session
