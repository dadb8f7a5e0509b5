"""Shuffles 4097 samples by the table in place of the network."""

from format_base import mutant

from midepoch.format import permutation

EXPECTED = "ORDER-4"
LARGEST = {"workers": 0, "sessions": 1, "steps": 6, "samples": 4097}

permutation.FISHER_YATES_MAX = 4097

Adapter = mutant()
