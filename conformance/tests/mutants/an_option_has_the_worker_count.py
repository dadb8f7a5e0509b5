"""Writes the number of workers into the plan, as an option of its own that loads leave out."""

import copy
from typing import Any

from format_base import mutant, reference

EXPECTED = "DOC-2"
LARGEST = {"workers": 1, "sessions": 2, "steps": 10, "samples": 2}


class Session(reference.Session):
    def state(self) -> dict[str, Any]:
        state = copy.deepcopy(super().state())
        state["plan"]["options"]["x-workers"] = str(self.loader.num_workers)
        return state

    def load(self, state: Any) -> None:
        state = copy.deepcopy(state)
        if isinstance(state, dict) and isinstance(state.get("plan"), dict):
            state["plan"].get("options", {}).pop("x-workers", None)
        super().load(state)


Adapter = mutant(Session)
