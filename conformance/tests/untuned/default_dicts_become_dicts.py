"""Rebuilds each mapping of a dataset's state as a plain one.

A dataset that counts in a defaultdict raises KeyError at the first new word after a restart.
"""

import collections
from typing import Any

from values import came_back, changing

FAMILY = "values"
BREAKS = ("STATE-6", "DOC-4")


def change(value: Any) -> Any:
    return dict(value) if isinstance(value, collections.defaultdict) else value


def shows(play: Any) -> Any:
    return came_back(play, collections.defaultdict(int, a=1), lambda v: type(v).__name__)


Adapter = changing(change)
