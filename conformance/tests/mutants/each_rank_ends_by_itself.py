"""Lets each rank to which lanes are dealt end an epoch where its own lanes end."""

from typing import Any

from format_base import mutant

from midepoch.epoch.ranks import RankPlaces

EXPECTED = "WORLD-11"
LARGEST = {"workers": 0, "sessions": 2, "steps": 7, "samples": 3}


def ends_together(places: Any) -> bool:
    return False


RankPlaces.ends_together = ends_together  # type: ignore[method-assign]  # the mutation

Adapter = mutant()
