"""Delivers small orders backwards."""

from format_base import mutant

from midepoch.format import permutation

EXPECTED = "ORDER-3"
LARGEST = {"workers": 0, "sessions": 1, "steps": 3, "samples": 2}

right = permutation._fisher_yates


def backwards(n: int, key: int) -> list[int]:
    return right(n, key)[::-1]


permutation._fisher_yates = backwards

Adapter = mutant()
