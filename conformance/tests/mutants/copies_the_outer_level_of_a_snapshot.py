"""Copies the outermost level of a dataset's state, when it takes a snapshot."""

import copy
from typing import Any

from base import mutant, simple

EXPECTED = "STATE-6"
LARGEST = {"workers": 0, "sessions": 2, "steps": 5, "samples": 4}


class Loader(simple.Loader):
    def capture(self) -> dict[str, Any]:
        if self.interval == 1 or not hasattr(self.copy, "state_dict"):
            return super().capture()
        return {"dataset": copy.copy(self.copy.state_dict())}


Adapter = mutant(Loader)
