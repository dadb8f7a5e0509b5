"""Skips a batch after a load if both the interval and the prefetch depth are others."""

from typing import Any

from base import mutant, simple

EXPECTED = "ELASTIC-3"
LARGEST = {"workers": 1, "sessions": 2, "steps": 5, "samples": 3}


class Loader(simple.Loader):
    def state(self) -> dict[str, Any]:
        return {**super().state(), "settings": [self.interval, self.prefetch]}

    def load(self, state: Any) -> None:
        super().load(state)
        changed = zip(state["settings"], (self.interval, self.prefetch), strict=True)
        if all(before != now for before, now in changed):
            self.batches += 1


Adapter = mutant(Loader, persistent=(False, True))
