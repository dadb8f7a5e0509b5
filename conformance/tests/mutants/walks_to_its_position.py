"""Walks through an order to the position that it resumes from."""

import collections

from format_base import mutant

from midepoch.format.permutation import Permutation

EXPECTED = "ORDER-5"
LARGEST = {"workers": 0, "sessions": 2, "steps": 3, "samples": 1000000000000}
FIELD = ("pytorch#50201", "pytorch#103339")

indices = Permutation.indices


def walking(self: Permutation, start: int, stop: int) -> list[int]:
    collections.deque(range(start), maxlen=0)
    return indices(self, start, stop)


Permutation.indices = walking

Adapter = mutant()
