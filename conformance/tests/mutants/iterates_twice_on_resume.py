"""Calls iter(dataset) twice when it resumes."""

import copy

from base import mutant, simple

EXPECTED = "COST-4"
LARGEST = {"workers": 0, "sessions": 2, "steps": 5, "samples": 13}
FIELD = ("data#1267", "data#1273")


class Loader(simple.Loader):
    def restore(self) -> int:
        if self.snapshot is not None and not self.random_access:
            iter(copy.deepcopy(self.data))
        return super().restore()


Adapter = mutant(Loader)
