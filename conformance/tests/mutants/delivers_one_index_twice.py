"""Delivers one index of its order twice, and another one never."""

from format_base import mutant

from midepoch.format.permutation import Permutation

EXPECTED = "ORDER-1"
LARGEST = {"workers": 0, "sessions": 1, "steps": 6, "samples": 2}

indices = Permutation.indices


def lying(self: Permutation, start: int, stop: int) -> list[int]:
    return [0 if i == self.n - 1 else i for i in indices(self, start, stop)]


Permutation.indices = lying

Adapter = mutant()
