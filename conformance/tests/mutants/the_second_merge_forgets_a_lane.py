"""Makes one state of ranks that were dealt one before, in which the first lane has no batches."""

from typing import Any

from format_base import mutant

from midepoch_conformance.adapters import reference

EXPECTED = "WORLD-10"
LARGEST = {"workers": 0, "sessions": 6, "steps": 11, "samples": 4}


class Session(reference.Session):
    def __init__(self, w: Any, x: Any) -> None:
        super().__init__(w, x)
        self.merges = 0

    def state(self) -> Any:
        return super().state() | {"x-merges": self.merges}

    def merge(self, states: list[Any]) -> Any:
        merges = 1 + states[0].get("x-merges", 0)
        whole = super().merge(states)
        entries = whole["lanes"]["entries"]
        if merges == 2:
            entries[0] |= {"dataset": None, "iterator": None, "stated": [], "ordinal": 0}
            entries[0] |= {"replay": 0, "ended": False, "errors": [], "content": None, "samples": 0}
            whole["position"]["samples"] = sum(entry["samples"] for entry in entries)
            whole["lanes"]["next"] = 0
        return {**whole, "x-merges": merges}

    def load(self, state: Any) -> None:
        super().load(state)
        self.merges = state.get("x-merges", 0) if isinstance(state, dict) else 0


Adapter = mutant(Session)
