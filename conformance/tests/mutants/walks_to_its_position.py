"""Walks through an order to reach the position that it resumes from."""

import time

from format_base import mutant

from midepoch.format.permutation import Permutation

EXPECTED = "ORDER-5"
LARGEST = {"workers": 0, "sessions": 2, "steps": 3, "samples": 1000000000000}
FIELD = ("pytorch#50201", "pytorch#103339")

STEP = 2e-8
"""The seconds that a step takes; the walk sleeps, to leave the processor to other tests."""

indices = Permutation.indices


def walking(self: Permutation, start: int, stop: int) -> list[int]:
    time.sleep(start * STEP)
    return indices(self, start, stop)


Permutation.indices = walking

Adapter = mutant()
