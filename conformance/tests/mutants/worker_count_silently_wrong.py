"""Saves its position in rounds of all workers, which is wrong under another number of workers."""

from typing import Any

from base import mutant, simple

EXPECTED = "ELASTIC-1"
LARGEST = {"workers": 2, "sessions": 2, "steps": 5, "samples": 2}
FIELD = ("data#1455", "data#1372")


class Loader(simple.Loader):
    def state(self) -> dict[str, Any]:
        return {**super().state(), "workers": max(1, self.workers)}

    def load(self, state: Any) -> None:
        super().load(state)
        here = max(1, self.workers)
        if state["workers"] != here:
            self.batches = self.batches // state["workers"] * here


Adapter = mutant(Loader)
