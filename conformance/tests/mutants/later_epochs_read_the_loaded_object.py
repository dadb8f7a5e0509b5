"""Shuffles the epochs after a resume by the seed that the loaded object holds by then."""

from typing import Any

from base import mutant, simple

EXPECTED = "STATE-5"
LARGEST = {"workers": 0, "sessions": 2, "steps": 7, "samples": 2}


class Loader(simple.Loader):
    given: dict[str, Any] | None = None

    def load(self, state: Any) -> None:
        super().load(state)
        self.given = state["plan"]

    def next_epoch(self) -> None:
        super().next_epoch()
        if self.given is not None:
            self.seed = self.given["seed"]


Adapter = mutant(Loader)
