"""Resumes a state of other data, if nothing else of the plan differs."""

import copy
from typing import Any

from format_base import mutant, reference

EXPECTED = "DOC-12"
LARGEST = {"workers": 0, "sessions": 2, "steps": 4, "samples": 1}


class Session(reference.Session):
    def load(self, state: Any) -> None:
        if isinstance(state, dict) and isinstance(state.get("plan"), dict):
            state = copy.deepcopy(state)
            state["plan"]["data"] = self.w.data or None
        super().load(state)


Adapter = mutant(Session)
