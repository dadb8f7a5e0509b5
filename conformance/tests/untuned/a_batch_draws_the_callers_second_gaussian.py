"""Puts the words of a batch's seed into ``random``, and leaves the Gaussian that it has in store.

If the model has drawn an odd number of Gaussians, the next batch begins with one of the model's.
"""

import contextlib
import random
from collections.abc import Iterator
from typing import Any

import numpy
from ground import base, mutant, simple

FAMILY = "random numbers"
BREAKS = ("VAMB-1", "RESUME-1", "RESUME-7")


class Loader(simple.Loader):
    @contextlib.contextmanager
    def seeded(self, epoch: int, k: int) -> Iterator[None]:
        kept = random.getstate(), numpy.random.get_state()
        source = random.Random(f"{self.seed}/{epoch}/batch {k}")
        version, _, gaussian = random.getstate()
        words = random.Random(source.getrandbits(64)).getstate()[1]
        random.setstate((version, words, gaussian))
        numpy.random.seed(source.getrandbits(32))
        try:
            yield
        finally:
            random.setstate(kept[0])
            numpy.random.set_state(kept[1])


class Noise(base.Rows):
    """Rows of a Gaussian each."""

    def row(self, i: int, rng: Any) -> Any:
        return [random.gauss(0, 1)]


def shows(play: Any) -> Any:
    make, plan = play.args[0].loader, play(n=6)
    kept = random.getstate()
    runs = []
    for drawn in (1, 2):
        for _ in range(drawn):
            random.gauss(0, 1)
        runs.append(list(make(Noise(plan.workload), batch_size=2)))
        random.setstate(kept)
    return runs[0], runs[1]


Adapter = mutant(Loader)
