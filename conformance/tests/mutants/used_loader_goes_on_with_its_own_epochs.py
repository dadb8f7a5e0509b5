"""Finishes a loaded epoch and then goes on with the epoch that it had reached before the load."""

from typing import Any

from base import mutant, simple

EXPECTED = "RESUME-6"
LARGEST = {"workers": 0, "sessions": 2, "steps": 8, "samples": 2}


class Loader(simple.Loader):
    own = 0

    def load(self, state: Any) -> None:
        own = self.epoch + 1
        super().load(state)
        self.own = own

    def next_epoch(self) -> None:
        super().next_epoch()
        self.epoch, self.own = max(self.epoch, self.own), 0


Adapter = mutant(Loader)
