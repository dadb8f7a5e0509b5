"""Drops a sample that raises."""

import contextlib

from base import mutant, simple

EXPECTED = "FAULT-2"
LARGEST = {"workers": 0, "sessions": 1, "steps": 1, "samples": 1}


class Loader(simple.Loader):
    def fetch(self, epoch: int, k: int, indices: list[int]) -> simple.Batch:
        with self.seeded(epoch, k):
            batch = []
            for i in indices:
                with contextlib.suppress(RuntimeError):
                    batch.append(self.sample(epoch, i))
            return batch


Adapter = mutant(Loader)
