"""Saves only full rounds in which each worker has delivered a batch."""

from typing import Any

from base import mutant, simple

EXPECTED = "RESUME-1"
LARGEST = {"workers": 2, "sessions": 2, "steps": 5, "samples": 2}


class Loader(simple.Loader):
    def state(self) -> dict[str, Any]:
        state = super().state()
        if self.moved and self.workers:
            state["batches"] -= state["batches"] % self.workers
        return state


Adapter = mutant(Loader)
