"""Takes the parts out of the state that it loads."""

from typing import Any

from base import mutant, simple

EXPECTED = "STATE-7"
LARGEST = {"workers": 0, "sessions": 2, "steps": 8, "samples": 1}


class Loader(simple.Loader):
    def load(self, state: Any) -> None:
        super().load(state)
        state["plan"].clear()


Adapter = mutant(Loader)
