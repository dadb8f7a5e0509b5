"""Loads a state of any version of the format."""

from typing import Any

from format_base import mutant, reference

EXPECTED = "DOC-17"
LARGEST = {"workers": 0, "sessions": 1, "steps": 5, "samples": 10}


class Session(reference.Session):
    def load(self, state: Any) -> None:
        if isinstance(state, dict) and "version" in state:
            state = {**state, "version": 1}
        super().load(state)


Adapter = mutant(Session)
