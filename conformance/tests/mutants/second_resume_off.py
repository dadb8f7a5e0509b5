"""Counts the batches before a resume twice, so the second resume is wrong."""

from typing import Any

from base import mutant, simple

EXPECTED = "RESUME-2"
LARGEST = {"workers": 0, "sessions": 3, "steps": 8, "samples": 4}
FIELD = ("KempnerForge#57", "datasets#8308", "torchtitan#3907", "DALI#5378")


class Loader(simple.Loader):
    before = 0

    def load(self, state: Any) -> None:
        super().load(state)
        self.before = self.batches

    def next_epoch(self) -> None:
        super().next_epoch()
        self.before = 0

    def state(self) -> dict[str, Any]:
        state = super().state()
        if self.moved:
            state["batches"] += self.before
        return state


Adapter = mutant(Loader)
