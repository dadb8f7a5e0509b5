"""Keeps the epoch of an earlier load when a second state is loaded."""

from typing import Any

from base import mutant, simple

EXPECTED = "RESUME-7"
LARGEST = {"workers": 0, "sessions": 2, "steps": 8, "samples": 4}


class Loader(simple.Loader):
    first: int | None = None

    def load(self, state: Any) -> None:
        went_on = self.moved
        super().load(state)
        if self.first is not None and went_on:
            self.epoch = self.first
        self.first = self.epoch if self.first is None else self.first


Adapter = mutant(Loader)
