"""Counts epochs from one, in what it writes and reads: right with itself, wrong with others."""

from __future__ import annotations

from typing import Any

import format_base as base

EXPECTED = "DOC-11"
LARGEST = {"workers": 0, "sessions": 1, "steps": 5, "samples": 3}


class Session(base.Session):
    def state(self) -> base.State:
        state = super().state()
        state["position"]["epoch"] += 1
        return state

    def load(self, state: Any) -> None:
        position = state.get("position") if isinstance(state, dict) else None
        if isinstance(position, dict) and type(position.get("epoch")) is int:
            before = max(0, position["epoch"] - 1)
            state = {**state, "position": {**position, "epoch": before}}
        super().load(state)


class Adapter(base.Adapter):
    session = Session
