"""Leaves the batches out of which no batch can be made."""

import contextlib

from base import mutant, simple

EXPECTED = "FAULT-2"
LARGEST = {"workers": 0, "sessions": 1, "steps": 1, "samples": 1}


class Loader(simple.Loader):
    def fetch(self, epoch: int, k: int, indices: list[int]) -> simple.Batch:
        with self.seeded(epoch, k):
            rows = [self.sample(epoch, i) for i in indices]
            with contextlib.suppress(RuntimeError):
                return self.collate(rows)
            return []


Adapter = mutant(Loader)
