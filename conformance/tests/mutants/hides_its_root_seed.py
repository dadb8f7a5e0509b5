"""Writes another root seed into its states than it uses."""

from __future__ import annotations

from typing import Any

import format_base as base

EXPECTED = "SEED-5"
LARGEST = {"workers": 0, "sessions": 1, "steps": 6, "samples": 1}


class Session(base.Session):
    def state(self) -> base.State:
        state = super().state()
        state["plan"]["seed"] ^= 1
        return state

    def load(self, state: Any) -> None:
        plan = state.get("plan") if isinstance(state, dict) else None
        if isinstance(plan, dict) and type(plan.get("seed")) is int:
            state = {**state, "plan": {**plan, "seed": plan["seed"] ^ 1}}
        super().load(state)


class Adapter(base.Adapter):
    session = Session
