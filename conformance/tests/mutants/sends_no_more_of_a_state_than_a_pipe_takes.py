"""Does not load a dataset's state that is larger than what a pipe takes at once."""

import dataclasses
import pickle
from typing import Any
from unittest.mock import patch

from format_base import mutant

from midepoch.lane.lane import Lane
from midepoch.stateful import thaw

EXPECTED = "STATE-6"
LARGEST = {"workers": 0, "sessions": 2, "steps": 5, "samples": 2}
OPEN, MOST = Lane.open, 1 << 16


def open_lane(self: Lane, entry: Any, **options: Any) -> None:
    stated = entry is not None and "dataset" in entry.stated
    if stated and len(pickle.dumps(thaw(entry.dataset))) > MOST:
        entry = dataclasses.replace(entry, stated=())
    OPEN(self, entry, **options)


patch.object(Lane, "open", open_lane).start()

Adapter = mutant()
