"""Puts a counter into its state, deep inside, and goes on counting there."""

from typing import Any

from base import mutant, simple

EXPECTED = "STATE-1"
LARGEST = {"workers": 0, "sessions": 2, "steps": 9, "samples": 1}
FIELD = ("live state",)


class Loader(simple.Loader):
    counter: dict[str, int]

    def state(self) -> dict[str, Any]:
        state = super().state()
        self.counter = vars(self).setdefault("counter", {"delivered": 0})
        return {**state, "plan": {**state["plan"], "stats": [self.counter]}}

    def advance(self) -> None:
        super().advance()
        if "counter" in vars(self):
            self.counter["delivered"] += 1


Adapter = mutant(Loader)
