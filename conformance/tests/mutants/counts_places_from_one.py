"""Counts the places by which samples are seeded from one, under ranks that share a plan."""

from typing import Any

from format_base import mutant

from midepoch.lane.lane import Lane

EXPECTED = "SEED-8"
LARGEST = {"workers": 0, "sessions": 3, "steps": 6, "samples": 2}

_seeded = Lane._seeded


def seeded(lane: Any, index: int, place: int, purpose: str, *numbers: int) -> Any:
    numbers = tuple(number + 1 for number in numbers)
    return _seeded(lane, index, place, purpose, *numbers)


Lane._seeded = seeded  # type: ignore[method-assign, assignment]  # the mutation

Adapter = mutant()
