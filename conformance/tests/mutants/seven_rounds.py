"""Shuffles with a network of seven rounds."""

from format_base import mutant

from midepoch.format import permutation

EXPECTED = "ORDER-4"
LARGEST = {"workers": 0, "sessions": 1, "steps": 6, "samples": 4097}

# The network shuffles only orders of more than 4096 samples. The trial plays 60 such cases, which
# takes 20 s of processor time.
permutation.ROUNDS = 7

Adapter = mutant()
