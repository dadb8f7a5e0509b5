"""Writes a field into the plan that the format does not have."""

from __future__ import annotations

from typing import Any

import format_base as base

EXPECTED = "DOC-1"
LARGEST = {"workers": 0, "sessions": 1, "steps": 9, "samples": 1}


class Session(base.Session):
    def state(self) -> base.State:
        state = super().state()
        state["plan"]["num_workers"] = self.loader.num_workers
        return state

    def load(self, state: Any) -> None:
        if isinstance(state, dict) and isinstance(state.get("plan"), dict):
            plan = {k: v for k, v in state["plan"].items() if k != "num_workers"}
            state = {**state, "plan": plan}
        super().load(state)


class Adapter(base.Adapter):
    session = Session
