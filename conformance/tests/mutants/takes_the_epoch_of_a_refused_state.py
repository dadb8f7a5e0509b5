"""Takes the epoch of a state before it looks whether the state can be loaded."""

from typing import Any

from base import mutant, simple

EXPECTED = "REFUSE-4"
LARGEST = {"workers": 0, "sessions": 3, "steps": 9, "samples": 4}
FIELD = ("data#1550",)


class Loader(simple.Loader):
    def load(self, state: Any) -> None:
        if isinstance(state, dict) and state.get("format") == simple.FORMAT:
            self.epoch = state["epoch"]
        super().load(state)


Adapter = mutant(Loader)
