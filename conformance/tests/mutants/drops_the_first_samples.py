"""Drops the samples that fill no batch at an epoch's beginning, and not at its end."""

from typing import Any

from base import mutant, simple

EXPECTED = "BASIS-3"
LARGEST = {"workers": 0, "sessions": 1, "steps": 2, "samples": 3}


class Loader(simple.Loader):
    def order(self, epoch: int) -> Any:
        batches = super().order(epoch)
        if self.sampler is not None or self.shuffle or not self.drop_last:
            return batches
        left = len(self.data) % self.batch_size
        return [[i + left for i in batch] for batch in batches]


Adapter = mutant(Loader)
