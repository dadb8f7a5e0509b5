"""Reads a loaded state only when it is iterated, and from the caller's own object."""

from typing import Any

from base import mutant, simple

EXPECTED = "STATE-5"
LARGEST = {"workers": 0, "sessions": 2, "steps": 6, "samples": 4}
FIELD = ("live state",)


class Loader(simple.Loader):
    pending: Any = None

    def load(self, state: Any) -> None:
        super().load(state)
        self.pending = state

    def __iter__(self) -> simple.Epoch:
        if self.pending is not None:
            self.epoch, self.batches = self.pending["epoch"], self.pending["batches"]
            self.snapshot, self.pending = self.pending["snapshot"], None
        return super().__iter__()


Adapter = mutant(Loader)
