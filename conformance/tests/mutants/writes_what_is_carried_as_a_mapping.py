"""Writes the indices that are carried into an epoch as a mapping."""

import copy
from typing import Any

from format_base import mutant, reference

EXPECTED = "DOC-1"
LARGEST = {"workers": 0, "sessions": 2, "steps": 6, "samples": 3}


class Session(reference.Session):
    def state(self) -> Any:
        state = super().state()
        carried = state["position"]["carried"]
        if carried:
            state["position"]["carried"] = {"indices": carried}
        return state

    def load(self, state: Any) -> None:
        state = copy.deepcopy(state)
        carried = state["position"]["carried"] if isinstance(state, dict) else None
        if isinstance(carried, dict):
            state["position"]["carried"] = carried["indices"]
        super().load(state)


Adapter = mutant(Session)
