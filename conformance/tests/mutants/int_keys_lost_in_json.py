"""Uses integers as keys in its state, and starts over when a key is missing."""

from typing import Any

from base import mutant, simple

EXPECTED = "STATE-3"
LARGEST = {"workers": 0, "sessions": 2, "steps": 7, "samples": 2}
FIELD = ("data#1250",)


class Loader(simple.Loader):
    def state(self) -> dict[str, Any]:
        state = super().state()
        return {**state, "batches": {self.epoch: state["batches"]}}

    def load(self, state: Any) -> None:
        if isinstance(state, dict) and isinstance(state.get("batches"), dict):
            state = {**state, "batches": state["batches"].get(state.get("epoch"), 0)}
        super().load(state)


Adapter = mutant(Loader)
