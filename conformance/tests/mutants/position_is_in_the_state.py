"""Keeps its only position in the state object that it hands out."""

from typing import Any

from base import mutant, simple

EXPECTED = "STATE-2"
LARGEST = {"workers": 0, "sessions": 2, "steps": 11, "samples": 4}
FIELD = ("live state",)


class Loader(simple.Loader):
    handed: dict[str, Any] | None = None

    def state(self) -> dict[str, Any]:
        if self.handed is not None:
            self.epoch, self.batches = self.handed["epoch"], self.handed["batches"]
        self.handed = super().state()
        return self.handed

    def load(self, state: Any) -> None:
        self.handed = None
        super().load(state)
        self.handed = None

    def advance(self) -> None:
        if self.handed is not None:
            self.epoch, self.batches = self.handed["epoch"], self.handed["batches"]
        self.handed = None
        super().advance()

    def next_epoch(self) -> None:
        if self.handed is not None:
            self.epoch = self.handed["epoch"]
        self.handed = None
        super().next_epoch()


Adapter = mutant(Loader)
