"""Counts one batch in a state taken before the first batch."""

from typing import Any

from base import mutant, simple

EXPECTED = "RESUME-4"
LARGEST = {"workers": 0, "sessions": 2, "steps": 4, "samples": 2}
FIELD = ("data#1260",)


class Loader(simple.Loader):
    def state(self) -> dict[str, Any]:
        state = super().state()
        if self.epoch == self.batches == 0:
            state["batches"] = 1
        return state


Adapter = mutant(Loader)
