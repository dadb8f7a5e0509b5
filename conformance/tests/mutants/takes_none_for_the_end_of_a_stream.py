"""Ends a stream at a sample that is None."""

from typing import Any
from unittest.mock import patch

from format_base import mutant

from midepoch.lane.passes import Pass

EXPECTED = "BASIS-3"
LARGEST = {"workers": 0, "sessions": 1, "steps": 2, "samples": 1}
NEXT = Pass.__next__


def following(self: Pass) -> Any:
    found = NEXT(self)
    if found is None:
        raise StopIteration
    return found


patch.object(Pass, "__next__", following).start()

Adapter = mutant()
