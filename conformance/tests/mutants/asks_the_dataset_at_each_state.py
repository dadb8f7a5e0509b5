"""Asks the dataset for its state whenever a state is taken, whatever the interval."""

from typing import Any

from base import mutant, simple

EXPECTED = "COST-2"
LARGEST = {"workers": 0, "sessions": 1, "steps": 60, "samples": 1840}


class Loader(simple.Loader):
    def state(self) -> dict[str, Any]:
        self.capture()
        return super().state()


Adapter = mutant(Loader)
