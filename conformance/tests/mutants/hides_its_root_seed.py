"""Writes another root seed into its states than the one it uses."""

from typing import Any

from format_base import mutant, reference

EXPECTED = "SEED-5"
LARGEST = {"workers": 0, "sessions": 1, "steps": 6, "samples": 1}


class Session(reference.Session):
    def state(self) -> dict[str, Any]:
        state = super().state()
        state["plan"]["seed"] = str(int(state["plan"]["seed"]) ^ 1)
        return state

    def load(self, state: Any) -> None:
        plan = state.get("plan") if isinstance(state, dict) else None
        if isinstance(plan, dict) and str(plan.get("seed")).isdigit():
            state = {**state, "plan": {**plan, "seed": str(int(plan["seed"]) ^ 1)}}
        super().load(state)


Adapter = mutant(Session)
