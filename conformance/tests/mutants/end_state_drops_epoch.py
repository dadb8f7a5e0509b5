"""A state taken after an epoch's end skips the next epoch."""

from typing import Any

from base import mutant, simple

EXPECTED = "EPOCH-2"
LARGEST = {"workers": 0, "sessions": 2, "steps": 6, "samples": 1}
FIELD = ("data#1437", "verl#7401", "verl#5725", "verl#7974")


class Loader(simple.Loader):
    ended = False

    def next_epoch(self) -> None:
        super().next_epoch()
        self.ended = True

    def advance(self) -> None:
        super().advance()
        self.ended = False

    def state(self) -> dict[str, Any]:
        state = super().state()
        state["epoch"] += self.ended
        return state


Adapter = mutant(Loader)
