"""Keeps, after a resume, the dataset's copy for the next epoch instead of making a fresh one.

Most datasets forget a loaded state when their next pass begins; one that keeps it delivers only
the rest of the epoch again.
"""

import copy
from typing import Any

from base import mutant, simple

EXPECTED = "EPOCH-1"
LARGEST = {"workers": 0, "sessions": 2, "steps": 5, "samples": 2}


class Loader(simple.Loader):
    loaded: Any = None

    def load(self, state: Any) -> None:
        super().load(state)
        self.loaded = None

    def restore(self) -> int:
        user, self.data = self.data, copy.deepcopy(self.loaded or self.data)
        resumed = self.snapshot is not None
        try:
            at = super().restore()
        finally:
            self.data = user
        if resumed:
            self.loaded = self.copy
        return at


Adapter = mutant(Loader)
