"""Seeds an iterable's batch by its ordinal and lane in the wrong order."""

from format_base import mutant

from midepoch.format.seeds import BatchSeeds, derive_words
from midepoch.lane import lane

EXPECTED = "SEED-3"
LARGEST = {"workers": 0, "sessions": 1, "steps": 2, "samples": 2}


def swapped(root: int, purpose: str, *numbers: int) -> BatchSeeds:
    if purpose == "batch.iterable":
        numbers = (numbers[0], numbers[2], numbers[1])
    return derive_words(root, purpose, *numbers)


lane.derive_words = swapped

Adapter = mutant()
