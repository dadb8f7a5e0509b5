"""Ignores unknown fields of a state, even those that the format forbids to ignore."""

from typing import Any

from format_base import mutant, reference

EXPECTED = "DOC-7"
LARGEST = {"workers": 0, "sessions": 1, "steps": 6, "samples": 10}


class Session(reference.Session):
    def load(self, state: Any) -> None:
        if isinstance(state, dict):
            known = super().state()
            state = {k: v for k, v in state.items() if k in known}
        super().load(state)


Adapter = mutant(Session)
