"""Asks the dataset for its state once more in each epoch than in the one before."""

from base import mutant, simple

EXPECTED = "COST-2"
LARGEST = {"workers": 0, "sessions": 1, "steps": 34, "samples": 160}


class Loader(simple.Loader):
    def next_epoch(self) -> None:
        for _ in range(self.epoch):
            self.capture()
        super().next_epoch()


Adapter = mutant(Loader)
