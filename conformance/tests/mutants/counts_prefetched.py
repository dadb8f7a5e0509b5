"""Counts the batches that its workers have fetched ahead as delivered."""

from typing import Any

from base import mutant, simple

EXPECTED = "RESUME-1"
LARGEST = {"workers": 1, "sessions": 2, "steps": 5, "samples": 3}
FIELD = ("data#1520", "lancedb#3751")


class Loader(simple.Loader):
    def state(self) -> dict[str, Any]:
        state = super().state()
        if self.moved:
            state["batches"] += self.workers
        return state


Adapter = mutant(Loader)
