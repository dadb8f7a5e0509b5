"""Shuffles 4096 samples by the network in place of the table."""

from format_base import mutant

from midepoch.format import permutation

EXPECTED = "ORDER-3"
LARGEST = {"workers": 0, "sessions": 1, "steps": 6, "samples": 4096}

permutation.FISHER_YATES_MAX = 4095

Adapter = mutant()
