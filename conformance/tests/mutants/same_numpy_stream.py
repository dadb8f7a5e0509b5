"""Seeds NumPy equally in each batch, worker and epoch."""

import contextlib
from collections.abc import Iterator

import numpy
from base import mutant, simple

EXPECTED = "VAMB-2"
LARGEST = {"workers": 0, "sessions": 1, "steps": 2, "samples": 3}
FIELD = ("pytorch#5059", "pytorch#41329")


class Loader(simple.Loader):
    @contextlib.contextmanager
    def seeded(self, epoch: int, k: int) -> Iterator[None]:
        with super().seeded(epoch, k):
            numpy.random.seed(self.seed)
            yield


Adapter = mutant(Loader)
