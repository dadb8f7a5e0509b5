"""Counts a loaded position in batches of its own ranks, as if each rank still had its size."""

from typing import Any

from format_base import mutant

from midepoch_conformance.adapters import reference

EXPECTED = "WORLD-5"
LARGEST = {"workers": 0, "sessions": 6, "steps": 16, "samples": 4}


class Session(reference.Session):
    def __init__(self, w: Any, x: Any) -> None:
        super().__init__(w, x)
        self.shared, self.world = w.ranks, x.world

    def state(self) -> Any:
        return super().state() | {"x-world": self.world}

    def load(self, state: Any) -> None:
        before = state.get("x-world", self.world)
        if self.shared and before < self.world:
            batches = state["position"]["batches"] // (self.world // before)
            samples = batches * state["plan"]["batch_size"]
            position = {**state["position"], "batches": batches, "samples": samples}
            state = {**state, "position": position}
        super().load(state)


Adapter = mutant(Session)
