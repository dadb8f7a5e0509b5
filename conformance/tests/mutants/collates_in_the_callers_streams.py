"""Gives the caller's random streams back before the batch is collated."""

from typing import Any

from base import mutant, simple

EXPECTED = "VAMB-1"
LARGEST = {"workers": 0, "sessions": 2, "steps": 5, "samples": 1}


class Loader(simple.Loader):
    def fetch(self, epoch: int, k: int, indices: list[int]) -> Any:
        with self.seeded(epoch, k):
            rows = [self.sample(epoch, i) for i in indices]
        return self.collate(rows)


Adapter = mutant(Loader)
