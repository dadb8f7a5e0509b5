"""Calls iter(dataset) twice when it resumes from the state of a resumed run."""

import copy
from typing import Any

from base import mutant, simple

EXPECTED = "COST-4"
LARGEST = {"workers": 0, "sessions": 3, "steps": 8, "samples": 13}


class Loader(simple.Loader):
    lives = 0

    def state(self) -> dict[str, Any]:
        return {**super().state(), "lives": self.lives}

    def load(self, state: Any) -> None:
        super().load(state)
        self.lives = state["lives"] + 1

    def restore(self) -> int:
        if self.lives > 1 and self.snapshot is not None and not self.random_access:
            iter(copy.deepcopy(self.data))
        return super().restore()


Adapter = mutant(Loader)
