"""Uses a mixing function with one wrong bit in a constant."""

from format_base import mutant

from midepoch.format import permutation

EXPECTED = "ORDER-2"
LARGEST = {"workers": 0, "sessions": 2, "steps": 2, "samples": 3}

permutation._M2 ^= 1 << 7

Adapter = mutant()
