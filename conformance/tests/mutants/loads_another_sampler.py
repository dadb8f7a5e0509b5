"""Loads a state of another custom sampler."""

import copy
from typing import Any

from format_base import mutant, reference

EXPECTED = "DOC-9"
LARGEST = {"workers": 0, "sessions": 1, "steps": 1, "samples": 10}


class Session(reference.Session):
    def load(self, state: Any) -> None:
        state = copy.deepcopy(state)
        here = self.loader.state_dict()["plan"]["sampler_name"]
        plan = state.get("plan") if isinstance(state, dict) else None
        if here and isinstance(plan, dict) and plan.get("sampler_name") == "Reversed":
            plan["sampler_name"] = here
        super().load(state)


Adapter = mutant(Session)
