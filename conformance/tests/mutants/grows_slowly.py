"""Adds a letter to its state for every 20 batches."""

from typing import Any

from base import mutant, simple

EXPECTED = "COST-1"
LARGEST = {"workers": 0, "sessions": 1, "steps": 24, "samples": 1840}


class Loader(simple.Loader):
    def state(self) -> dict[str, Any]:
        return {**super().state(), "trail": "x" * (self.batches // 20)}


Adapter = mutant(Loader)
