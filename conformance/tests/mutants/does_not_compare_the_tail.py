"""Loads a state of another tail rule, and drops what was to be kept."""

from typing import Any

from base import mutant, simple

EXPECTED = "REFUSE-3"
LARGEST = {"workers": 0, "sessions": 2, "steps": 5, "samples": 5}


class Loader(simple.Loader):
    def plan(self) -> dict[str, Any]:
        return {name: value for name, value in super().plan().items() if name != "drop_last"}


Adapter = mutant(Loader)
