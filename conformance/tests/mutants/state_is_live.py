"""Hands out one state object and keeps changing it."""

from typing import Any

from base import mutant, simple

EXPECTED = "STATE-1"
LARGEST = {"workers": 0, "sessions": 2, "steps": 9, "samples": 1}
FIELD = ("live state",)


class Loader(simple.Loader):
    handed: dict[str, Any] | None = None

    def state(self) -> dict[str, Any]:
        self.handed = super().state()
        return self.handed

    def advance(self) -> None:
        super().advance()
        if self.handed is not None:
            self.handed.update(epoch=self.epoch, batches=self.batches, snapshot=self.snapshot)


Adapter = mutant(Loader)
