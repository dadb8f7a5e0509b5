"""Normalises the floats of a dataset's state by adding zero: -0.0 becomes 0.0.

A dataset that compares the state's checksum with its own refuses it.
"""

from typing import Any

from values import came_back, changing

FAMILY = "values"
BREAKS = ("STATE-6", "DOC-4")


def change(value: Any) -> Any:
    return value + 0.0 if type(value) is float else value


def shows(play: Any) -> Any:
    return came_back(play, [-0.0, 1.0])


Adapter = changing(change)
