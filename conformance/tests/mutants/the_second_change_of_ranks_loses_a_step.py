"""Counts the steps since the ranks changed last, and loses one at the second change."""

from typing import Any

from format_base import mutant

from midepoch_conformance.adapters import reference

EXPECTED = "WORLD-5"
LARGEST = {"workers": 0, "sessions": 6, "steps": 10, "samples": 5}


class Session(reference.Session):
    def __init__(self, w: Any, x: Any) -> None:
        super().__init__(w, x)
        self.shared, self.world, self.changes = w.ranks == "shared", x.world, 0

    def state(self) -> Any:
        return super().state() | {"x-world": self.world, "x-changes": self.changes}

    def load(self, state: Any) -> None:
        position = state["position"]
        if self.shared and "x-world" in state:
            self.changes = state["x-changes"] + (state["x-world"] != self.world)
        size = state["plan"]["batch_size"]
        if self.shared and self.changes == 2 and position["samples"] > size:
            samples = position["samples"] - size
            position = {**position, "batches": position["batches"] - 1, "samples": samples}
        super().load({**state, "position": position})


Adapter = mutant(Session)
