"""Loads a state whose format has another name."""

from typing import Any

from format_base import mutant, reference

EXPECTED = "DOC-8"
LARGEST = {"workers": 0, "sessions": 1, "steps": 5, "samples": 10}


class Session(reference.Session):
    def load(self, state: Any) -> None:
        if isinstance(state, dict) and "format" in state:
            state = {**state, "format": "midepoch.state"}
        super().load(state)


Adapter = mutant(Session)
