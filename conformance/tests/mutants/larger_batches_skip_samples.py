"""Goes on in batches of another size from the same number of batches."""

from typing import Any

from format_base import mutant

from midepoch_conformance.adapters import reference

EXPECTED = "WORLD-7"
LARGEST = {"workers": 0, "sessions": 4, "steps": 7, "samples": 2}


class Session(reference.Session):
    def __init__(self, w: Any, x: Any) -> None:
        super().__init__(w, x)
        self.size, self.shared = w.batch_size, w.ranks

    def load(self, state: Any) -> None:
        if self.shared and state["plan"]["batch_size"] != self.size:
            position = state["position"]
            samples = min(position["batches"] * self.size, state["plan"]["length"])
            state = {**state, "position": {**position, "samples": samples}}
        super().load(state)


Adapter = mutant(Session)
