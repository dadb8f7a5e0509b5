"""Loads a state of another seed, and continues in the order of its own."""

from typing import Any

from base import mutant, simple

EXPECTED = "REFUSE-3"
LARGEST = {"workers": 0, "sessions": 2, "steps": 5, "samples": 3}


class Loader(simple.Loader):
    def plan(self) -> dict[str, Any]:
        return {name: value for name, value in super().plan().items() if name != "seed"}


Adapter = mutant(Loader)
