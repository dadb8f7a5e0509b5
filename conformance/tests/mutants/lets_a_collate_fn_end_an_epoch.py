"""Takes a StopIteration of a ``collate_fn`` for the end of the dataset."""

from collections.abc import Callable
from typing import Any
from unittest.mock import patch

from format_base import mutant

from midepoch.lane import lane
from midepoch.lane.messages import Ended

EXPECTED = "FAULT-2"
LARGEST = {"workers": 0, "sessions": 1, "steps": 1, "samples": 1}
PRODUCE = lane.Lane._produce


def produce(self: lane.Lane) -> Any:
    try:
        return PRODUCE(self)
    except StopIteration:
        self._ended = True
        return Ended()


def unguarded(function: Callable[[Any], Any], argument: Any) -> Any:
    return function(argument)


patch.object(lane, "_guarded", unguarded).start()
patch.object(lane.Lane, "_produce", produce).start()

Adapter = mutant()
