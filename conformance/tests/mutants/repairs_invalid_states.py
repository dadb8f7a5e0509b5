"""Reads negative counts as zero."""

from typing import Any

from format_base import mutant, reference

EXPECTED = "DOC-9"
LARGEST = {"workers": 0, "sessions": 1, "steps": 48, "samples": 10}
FIELD = ("far-off position",)


def repaired(value: Any) -> Any:
    return max(0, value) if type(value) is int else value


class Session(reference.Session):
    def load(self, state: Any) -> None:
        if isinstance(state, dict) and isinstance(state.get("position"), dict):
            state = {**state, "position": {k: repaired(v) for k, v in state["position"].items()}}
        super().load(state)


Adapter = mutant(Session)
