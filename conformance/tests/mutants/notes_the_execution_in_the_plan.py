"""Writes a field into the plan that the format does not have."""

from typing import Any

from format_base import mutant, reference

EXPECTED = "DOC-1"
LARGEST = {"workers": 0, "sessions": 1, "steps": 9, "samples": 1}


class Session(reference.Session):
    def state(self) -> dict[str, Any]:
        state = super().state()
        state["plan"]["num_workers"] = self.loader.num_workers
        return state

    def load(self, state: Any) -> None:
        if isinstance(state, dict) and isinstance(state.get("plan"), dict):
            plan = {k: v for k, v in state["plan"].items() if k != "num_workers"}
            state = {**state, "plan": plan}
        super().load(state)


Adapter = mutant(Session)
