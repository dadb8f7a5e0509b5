"""Keeps its own epoch when the loaded state has an earlier one."""

from typing import Any

from base import mutant, simple

EXPECTED = "RESUME-6"
LARGEST = {"workers": 0, "sessions": 2, "steps": 8, "samples": 2}


class Loader(simple.Loader):
    def load(self, state: Any) -> None:
        epoch = self.epoch
        super().load(state)
        self.epoch = max(self.epoch, epoch)


Adapter = mutant(Loader)
