"""Copies the sampler at its first epoch, so a later set_epoch() has no effect."""

import copy
from typing import Any

from base import Distributed, mutant, simple

EXPECTED = "EPOCH-4"
LARGEST = {"workers": 0, "sessions": 2, "steps": 6, "samples": 3}
FIELD = ("datasets#6673",)


class Loader(simple.Loader):
    kept: Any = None

    def indices(self, epoch: int) -> Any:
        if isinstance(self.sampler, Distributed):
            self.kept = self.kept or copy.deepcopy(self.sampler)
            return list(self.kept)
        return super().indices(epoch)


Adapter = mutant(Loader)
