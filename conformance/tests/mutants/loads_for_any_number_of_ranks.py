"""Loads a state for another number of ranks, and goes on at the same count of batches."""

from typing import Any

from base import mutant, simple

EXPECTED = "WORLD-2"
LARGEST = {"workers": 0, "sessions": 3, "steps": 7, "samples": 4}
FIELD = ("torchtitan#816", "torchtitan#376", "torchtitan#811")


class Loader(simple.Loader):
    def plan(self) -> dict[str, Any]:
        return super().plan() | {"world": None}


Adapter = mutant(Loader)
