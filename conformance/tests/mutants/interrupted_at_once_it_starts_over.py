"""Starts the epoch over if an interrupt comes before the first batch after a load."""

from base import mutant, simple

EXPECTED = "RESUME-7"
LARGEST = {"workers": 0, "sessions": 3, "steps": 8, "samples": 4}


class Loader(simple.Loader):
    def __iter__(self) -> simple.Epoch:
        super().__iter__()
        self.live = Epoch(self)
        return self.live


class Epoch(simple.Epoch):
    def interrupted(self) -> None:
        super().interrupted()
        if not self.loader.moved:
            # In an epoch from its beginning this changes nothing.
            self.loader.batches, self.loader.snapshot, self.loader.raised = 0, None, []


Adapter = mutant(Loader)
