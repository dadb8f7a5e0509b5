"""After a load, hands out one state object and keeps changing it."""

from typing import Any

from base import mutant, simple

EXPECTED = "STATE-1"
LARGEST = {"workers": 0, "sessions": 3, "steps": 11, "samples": 2}


class Loader(simple.Loader):
    handed: dict[str, Any] | None = None
    loaded = False

    def load(self, state: Any) -> None:
        super().load(state)
        self.loaded = True

    def state(self) -> dict[str, Any]:
        state = super().state()
        if self.loaded:
            self.handed = state
        return state

    def advance(self) -> None:
        super().advance()
        if self.handed is not None:
            self.handed.update(batches=self.batches, snapshot=self.snapshot)


Adapter = mutant(Loader)
