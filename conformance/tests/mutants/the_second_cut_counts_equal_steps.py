"""Goes on in batches of a third size as if all steps before had the second one."""

from typing import Any

from format_base import mutant

from midepoch_conformance.adapters import reference

EXPECTED = "WORLD-7"
LARGEST = {"workers": 0, "sessions": 4, "steps": 7, "samples": 4}


class Session(reference.Session):
    def __init__(self, w: Any, x: Any) -> None:
        super().__init__(w, x)
        self.size, self.shared = w.batch_size, w.ranks in ("shared", "cut anew")

    def load(self, state: Any) -> None:
        plan = state["plan"] if self.shared else {}
        if self.shared and plan["batch_size"] != self.size:
            position = state["position"]
            samples = min(position["batches"] * plan["batch_size"], plan["length"])
            state = {**state, "position": {**position, "samples": samples}}
        super().load(state)


Adapter = mutant(Session)
