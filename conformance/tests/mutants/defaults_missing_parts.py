"""Fills missing parts of a state with those of a fresh loader."""

from typing import Any

from base import mutant, simple

EXPECTED = "REFUSE-2"
LARGEST = {"workers": 0, "sessions": 2, "steps": 5, "samples": 2}


class Loader(simple.Loader):
    def load(self, state: Any) -> None:
        if isinstance(state, dict) and "plan" in state:
            state = {**super().state(), "epoch": 0, "batches": 0, "snapshot": None, **state}
        super().load(state)


Adapter = mutant(Loader)
