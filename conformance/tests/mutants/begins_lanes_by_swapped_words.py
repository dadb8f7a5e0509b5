"""Seeds a lane's beginning with the words for random and torch swapped."""

from format_base import mutant

from midepoch.format.seeds import derive_words
from midepoch.lane.lane import Lane

EXPECTED = "SEED-4"
LARGEST = {"workers": 0, "sessions": 1, "steps": 3, "samples": 1}


def seed_start(lane: Lane) -> None:
    words = derive_words(lane.spec.seed, "lane", lane.epoch, lane.number)
    lane._seed(words._replace(torch=words.python, python=words.torch))


Lane.seed_start = seed_start  # type: ignore[method-assign]

Adapter = mutant()
