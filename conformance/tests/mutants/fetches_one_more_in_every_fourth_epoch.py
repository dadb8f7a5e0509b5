"""Fetches one sample more at a resume for every four epochs before the loaded position."""

from typing import Any

from base import mutant, simple

EXPECTED = "COST-3"
LARGEST = {"workers": 0, "sessions": 7, "steps": 58, "samples": 160}


class Loader(simple.Loader):
    def load(self, state: Any) -> None:
        super().load(state)
        if self.random_access and not hasattr(self.data, "state_dict"):
            self.restore()
            for index in range(self.epoch // 4):
                self.attempt(self.epoch, 0, [index])


Adapter = mutant(Loader)
