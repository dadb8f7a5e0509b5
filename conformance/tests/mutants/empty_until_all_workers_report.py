"""Saves an empty position after a resume, until each worker has delivered a batch."""

from typing import Any

from base import mutant, simple

EXPECTED = "RESUME-3"
LARGEST = {"workers": 1, "sessions": 3, "steps": 6, "samples": 2}
FIELD = ("data#1251",)


class Loader(simple.Loader):
    loaded: int | None = None

    def load(self, state: Any) -> None:
        super().load(state)
        self.loaded = self.batches

    def next_epoch(self) -> None:
        super().next_epoch()
        self.loaded = None

    def state(self) -> dict[str, Any]:
        state = super().state()
        if self.loaded is not None and self.batches < self.loaded + self.workers:
            state["batches"] = 0
        return state


Adapter = mutant(Loader)
