"""Counts the samples that fill the last step of sharing ranks up."""

from typing import Any

from format_base import mutant

from midepoch_conformance.adapters import reference

EXPECTED = "DOC-6"
LARGEST = {"workers": 0, "sessions": 2, "steps": 4, "samples": 9}


class Session(reference.Session):
    def __init__(self, w: Any, x: Any) -> None:
        super().__init__(w, x)
        self.world = x.world

    def state(self) -> Any:
        state = super().state()
        position = state["position"]
        if self.w.ranks == "shared" and position["samples"] == self.w.n:
            position["samples"] += -self.w.n % self.world
        return state


Adapter = mutant(Session)
