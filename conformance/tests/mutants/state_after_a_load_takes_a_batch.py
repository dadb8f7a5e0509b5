"""Drops the next batch whenever a state is taken after one was loaded."""

from typing import Any

from base import mutant, simple

EXPECTED = "BASIS-4"
LARGEST = {"workers": 0, "sessions": 2, "steps": 7, "samples": 3}


class Loader(simple.Loader):
    loaded = False

    def load(self, state: Any) -> None:
        super().load(state)
        self.loaded = True

    def state(self) -> dict[str, Any]:
        state = super().state()
        if self.loaded and self.live is not None and self.live.source is not None:
            next(self.live.source, None)
        return state


Adapter = mutant(Loader)
