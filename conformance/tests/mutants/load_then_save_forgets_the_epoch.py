"""Saves the first epoch if a state is taken right after a load."""

from typing import Any

from base import mutant, simple

EXPECTED = "STATE-4"
LARGEST = {"workers": 0, "sessions": 3, "steps": 8, "samples": 6}
FIELD = ("data#1453", "Energon#126")


class Loader(simple.Loader):
    fresh = False

    def load(self, state: Any) -> None:
        super().load(state)
        self.fresh = True

    def advance(self) -> None:
        super().advance()
        self.fresh = False

    def state(self) -> dict[str, Any]:
        state = super().state()
        return {**state, "epoch": 0} if self.fresh else state


Adapter = mutant(Loader)
