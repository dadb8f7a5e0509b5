"""Saves the samples that an epoch leaves over, and carries them over twice after a resume."""

from typing import Any

from base import mutant, simple

EXPECTED = "EPOCH-7"
LARGEST = {"workers": 0, "sessions": 2, "steps": 6, "samples": 3}


class Loader(simple.Loader):
    begun = 0

    def load(self, state: Any) -> None:
        super().load(state)
        self.begun = self.epoch

    def carried(self, epoch: int) -> list[int]:
        carried = super().carried(epoch)
        return carried * 2 if epoch == self.begun else carried


Adapter = mutant(Loader)
