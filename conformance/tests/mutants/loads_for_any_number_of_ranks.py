"""Loads a state saved under another number of ranks, and keeps its count of batches."""

from typing import Any

from base import mutant, simple

EXPECTED = "WORLD-2"
LARGEST = {"workers": 0, "sessions": 3, "steps": 7, "samples": 4}
FIELD = ("torchtitan#816", "torchtitan#376", "torchtitan#811")


class Loader(simple.Loader):
    def plan(self) -> dict[str, Any]:
        return super().plan() | {"world": None}


Adapter = mutant(Loader)
