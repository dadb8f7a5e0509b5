"""Carries an epoch's leftover samples into the next epoch, but not after a resume."""

from typing import Any

from base import mutant, simple

EXPECTED = "EPOCH-6"
LARGEST = {"workers": 0, "sessions": 2, "steps": 6, "samples": 3}


class Loader(simple.Loader):
    begun = 0

    def load(self, state: Any) -> None:
        super().load(state)
        self.begun = self.epoch

    def carried(self, epoch: int) -> list[int]:
        return [] if epoch == self.begun else super().carried(epoch)


Adapter = mutant(Loader)
