"""Saves only the batches delivered out of order since the last resume, not those before it."""

from typing import Any

import overtaking
from base import mutant

EXPECTED = "UNORD-1"
LARGEST = {"workers": 0, "sessions": 3, "steps": 8, "samples": 3}


class Loader(overtaking.Loader):
    inherited: tuple[int, ...] = ()

    def state(self) -> dict[str, Any]:
        state = super().state()
        own = [k for k in state["ahead"] if k not in self.inherited]
        return {**state, "batches": state["batches"] - len(state["ahead"]) + len(own), "ahead": own}

    def load(self, state: Any) -> None:
        super().load(state)
        self.inherited = self.ahead


Adapter = mutant(Loader)
