"""Starts over when it is given None or an empty mapping as a state."""

from typing import Any

from base import mutant, simple

EXPECTED = "REFUSE-1"
LARGEST = {"workers": 0, "sessions": 1, "steps": 3, "samples": 1}
FIELD = ("no state",)


class Loader(simple.Loader):
    def load(self, state: Any) -> None:
        if state is not None and state != {}:
            super().load(state)


Adapter = mutant(Loader)
