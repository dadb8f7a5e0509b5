"""Takes the position of a state whose plan does not differ, and then looks for missing parts."""

from typing import Any

from base import mutant, simple

EXPECTED = "REFUSE-4"
LARGEST = {"workers": 0, "sessions": 3, "steps": 11, "samples": 5}


class Loader(simple.Loader):
    def load(self, state: Any) -> None:
        here = self.plan()
        if isinstance(state, dict) and set(state) == set(self.state()):
            given = state["plan"]
            if isinstance(given, dict) and all(here[k] == given.get(k, here[k]) for k in here):
                self.batches = state["batches"]
        super().load(state)


Adapter = mutant(Loader)
