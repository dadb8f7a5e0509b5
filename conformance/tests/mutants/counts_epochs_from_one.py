"""Writes and reads epochs counted from one: it agrees with itself, but with no other loader."""

from typing import Any

from format_base import mutant, reference

EXPECTED = "DOC-11"
LARGEST = {"workers": 0, "sessions": 1, "steps": 5, "samples": 3}


class Session(reference.Session):
    def state(self) -> dict[str, Any]:
        state = super().state()
        state["position"]["epoch"] += 1
        return state

    def load(self, state: Any) -> None:
        position = state.get("position") if isinstance(state, dict) else None
        if isinstance(position, dict) and type(position.get("epoch")) is int:
            before = max(0, position["epoch"] - 1)
            state = {**state, "position": {**position, "epoch": before}}
        super().load(state)


Adapter = mutant(Session)
