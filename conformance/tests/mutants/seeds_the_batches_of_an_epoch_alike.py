"""Seeds NumPy by the epoch alone: all batches of an epoch are augmented alike."""

import contextlib
from collections.abc import Iterator

import numpy
from base import mutant, simple

EXPECTED = "VAMB-2"
LARGEST = {"workers": 0, "sessions": 1, "steps": 2, "samples": 4}


class Loader(simple.Loader):
    @contextlib.contextmanager
    def seeded(self, epoch: int, k: int) -> Iterator[None]:
        with super().seeded(epoch, k):
            numpy.random.seed(1000 * self.seed + epoch)
            yield


Adapter = mutant(Loader)
