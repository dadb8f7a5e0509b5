"""Restores data after two epochs that were left by drawing one batch more than the run drew."""

from typing import Any

from format_base import mutant

from midepoch.lane.progress import LaneProgress
from midepoch.sampling.custom import CustomOrder

EXPECTED = "RESUME-7"
LARGEST = {"workers": 0, "sessions": 2, "steps": 11, "samples": 1}


def keeps_nothing(*_: Any) -> None:
    return None


LaneProgress.begun = keeps_nothing  # type: ignore[method-assign]  # the mutation
CustomOrder._at_the_beginning = keeps_nothing  # type: ignore[method-assign]  # the mutation

Adapter = mutant()
