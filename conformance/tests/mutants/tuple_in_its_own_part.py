"""Keeps its position as a tuple of pairs."""

from typing import Any

from format_base import mutant, reference

EXPECTED = "DOC-3"
LARGEST = {"workers": 0, "sessions": 1, "steps": 9, "samples": 1}


class Session(reference.Session):
    def state(self) -> dict[str, Any]:
        state = super().state()
        return {**state, "position": tuple(state["position"].items())}

    def load(self, state: Any) -> None:
        if isinstance(state, dict) and isinstance(state.get("position"), tuple):
            state = {**state, "position": dict(state["position"])}
        super().load(state)


Adapter = mutant(Session)
