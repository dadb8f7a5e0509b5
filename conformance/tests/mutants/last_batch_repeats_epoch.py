"""Repeats the epoch if a state is taken after the last batch but before the epoch's end."""

from typing import Any

from base import mutant, simple

EXPECTED = "EPOCH-3"
LARGEST = {"workers": 0, "sessions": 2, "steps": 6, "samples": 2}
FIELD = ("verl#7401", "verl#5725", "verl#7974")


class Loader(simple.Loader):
    def state(self) -> dict[str, Any]:
        state = super().state()
        if self.random_access and self.batches >= len(self.order(self.epoch)):
            state["batches"] = 0
        return state


Adapter = mutant(Loader)
