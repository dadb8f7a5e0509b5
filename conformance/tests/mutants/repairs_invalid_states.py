"""Takes counts below zero for zero."""

from __future__ import annotations

from typing import Any

import format_base as base

EXPECTED = "DOC-9"
LARGEST = {"workers": 0, "sessions": 1, "steps": 48, "samples": 10}
FIELD = ("far-off position",)


def repaired(value: Any) -> Any:
    return max(0, value) if type(value) is int else value


class Session(base.Session):
    def load(self, state: Any) -> None:
        if isinstance(state, dict) and isinstance(state.get("position"), dict):
            state = {**state, "position": {k: repaired(v) for k, v in state["position"].items()}}
        super().load(state)


class Adapter(base.Adapter):
    session = Session
