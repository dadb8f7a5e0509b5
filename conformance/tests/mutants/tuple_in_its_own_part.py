"""Keeps its position as a tuple of pairs."""

from __future__ import annotations

from typing import Any

import format_base as base

EXPECTED = "DOC-3"
LARGEST = {"workers": 0, "sessions": 1, "steps": 9, "samples": 1}


class Session(base.Session):
    def state(self) -> base.State:
        state = super().state()
        return {**state, "position": tuple(state["position"].items())}

    def load(self, state: Any) -> None:
        if isinstance(state, dict) and isinstance(state.get("position"), tuple):
            state = {**state, "position": dict(state["position"])}
        super().load(state)


class Adapter(base.Adapter):
    session = Session
