"""Shuffles with a network of seven rounds."""

from format_base import mutant

from midepoch.format import permutation

EXPECTED = "ORDER-4"
LARGEST = {"workers": 0, "sessions": 1, "steps": 6, "samples": 4966}

permutation.ROUNDS = 7

Adapter = mutant()
