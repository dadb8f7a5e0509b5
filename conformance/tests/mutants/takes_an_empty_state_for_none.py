"""Does not load a dataset's state that is empty: its epoch starts over."""

import dataclasses
from typing import Any
from unittest.mock import patch

from format_base import mutant

from midepoch.lane.lane import Lane
from midepoch.stateful import thaw

EXPECTED = "STATE-6"
LARGEST = {"workers": 0, "sessions": 2, "steps": 5, "samples": 5}
OPEN = Lane.open


def open_lane(self: Lane, entry: Any, **options: Any) -> None:
    if entry is not None and "dataset" in entry.stated and not thaw(entry.dataset):
        entry = dataclasses.replace(entry, stated=())
    OPEN(self, entry, **options)


patch.object(Lane, "open", open_lane).start()

Adapter = mutant()
