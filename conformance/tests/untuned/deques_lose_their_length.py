"""Rebuilds each deque of a dataset's state without its largest length.

A dataset with a window of the last rows keeps all rows after a restart, until memory is used up.
"""

import collections
from typing import Any

from values import came_back, changing

FAMILY = "values"
BREAKS = ("STATE-6", "DOC-4")


def change(value: Any) -> Any:
    return collections.deque(value) if isinstance(value, collections.deque) else value


def shows(play: Any) -> Any:
    return came_back(play, collections.deque([1, 2], maxlen=2))


Adapter = changing(change)
