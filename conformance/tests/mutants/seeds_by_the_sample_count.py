"""Seeds a map-style batch by the number of samples before it instead of its index."""

from format_base import mutant

from midepoch.format.seeds import BatchSeeds, derive_words
from midepoch.lane import lane

EXPECTED = "SEED-2"
LARGEST = {"workers": 0, "sessions": 1, "steps": 2, "samples": 2}


def counted(root: int, purpose: str, *numbers: int) -> BatchSeeds:
    if purpose == "batch.map":
        numbers = (numbers[0], numbers[1] * 4)
    return derive_words(root, purpose, *numbers)


lane.derive_words = counted

Adapter = mutant()
