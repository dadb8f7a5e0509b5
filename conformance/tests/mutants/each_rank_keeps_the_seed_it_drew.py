"""Lets each rank go on with the seed that it drew, where none is given."""

from typing import Any

from format_base import mutant

from midepoch.epoch.ranks import RankPlaces

EXPECTED = "WORLD-3"
LARGEST = {"workers": 0, "sessions": 3, "steps": 10, "samples": 4}


def agree(places: Any, seed: int) -> int:
    places.settle()
    places.agreed = True
    return seed


RankPlaces.agree = agree  # type: ignore[method-assign]  # the mutation

Adapter = mutant()
