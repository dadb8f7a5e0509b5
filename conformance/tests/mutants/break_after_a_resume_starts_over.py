"""Repeats a resumed epoch that is broken out of, instead of going on to the next epoch."""

from typing import Any

from base import mutant, simple

EXPECTED = "RESUME-7"
LARGEST = {"workers": 0, "sessions": 2, "steps": 5, "samples": 3}
FIELD = ("litData#760",)


class Loader(simple.Loader):
    resumed = False

    def load(self, state: Any) -> None:
        super().load(state)
        self.resumed = True

    def __iter__(self) -> simple.Epoch:
        again = self.epoch if self.resumed and self.moved else None
        epoch = super().__iter__()
        if again is not None:
            self.epoch = again
        return epoch

    def next_epoch(self) -> None:
        super().next_epoch()
        self.resumed = False


Adapter = mutant(Loader)
