"""Fails with an error on its own state from an epoch's end."""

from typing import Any

from base import mutant, simple

EXPECTED = "EPOCH-2"
LARGEST = {"workers": 0, "sessions": 2, "steps": 6, "samples": 1}
FIELD = ("streaming#700",)


class Loader(simple.Loader):
    ended = False

    def next_epoch(self) -> None:
        super().next_epoch()
        self.ended = True

    def advance(self) -> None:
        super().advance()
        self.ended = False

    def state(self) -> dict[str, Any]:
        return {**super().state(), "ended": self.ended}

    def load(self, state: Any) -> None:
        super().load(state)
        if state["ended"]:
            [][self.batches]


Adapter = mutant(Loader)
