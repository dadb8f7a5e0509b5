"""Saves the position of the last snapshot instead of the current one."""

from typing import Any

from base import mutant, simple

EXPECTED = "INTERVAL-1"
LARGEST = {"workers": 0, "sessions": 2, "steps": 5, "samples": 2}
FIELD = ("VeOmni#487", "data#1283")


class Loader(simple.Loader):
    def state(self) -> dict[str, Any]:
        state = super().state()
        state["batches"] -= state["batches"] % self.interval
        return state


Adapter = mutant(Loader)
