"""Drops an error that only its replay meets, as if the run before had raised it."""

from base import mutant, simple

EXPECTED = "FAULT-10"
LARGEST = {"workers": 0, "sessions": 2, "steps": 7, "samples": 2}


class Loader(simple.Loader):
    def fetches(self) -> object:
        self.raised = list(range(self.batches))
        return super().fetches()


Adapter = mutant(Loader)
