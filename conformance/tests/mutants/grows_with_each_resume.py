"""Keeps a line in its state for each resume."""

from typing import Any

from base import mutant, simple

EXPECTED = "COST-1"
LARGEST = {"workers": 0, "sessions": 13, "steps": 38, "samples": 160}


class Loader(simple.Loader):
    lives: tuple[str, ...] = ("a life",)

    def state(self) -> dict[str, Any]:
        return {**super().state(), "lives": list(self.lives)}

    def load(self, state: Any) -> None:
        super().load(state)
        self.lives = (*state["lives"], "a life")


Adapter = mutant(Loader)
