"""Adds a letter to its state in every fifth epoch."""

from typing import Any

from base import mutant, simple

EXPECTED = "COST-1"
LARGEST = {"workers": 0, "sessions": 1, "steps": 58, "samples": 160}


class Loader(simple.Loader):
    def state(self) -> dict[str, Any]:
        return {**super().state(), "trail": "x" * (self.epoch // 5)}


Adapter = mutant(Loader)
