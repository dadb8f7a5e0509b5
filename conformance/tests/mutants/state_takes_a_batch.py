"""Drops the next batch whenever a state is taken."""

from typing import Any

from base import mutant, simple

EXPECTED = "BASIS-4"
LARGEST = {"workers": 0, "sessions": 1, "steps": 7, "samples": 2}
FIELD = ("data#1368",)


class Loader(simple.Loader):
    def state(self) -> dict[str, Any]:
        state = super().state()
        if self.live is not None and self.live.source is not None:
            next(self.live.source, None)
        return state


Adapter = mutant(Loader)
