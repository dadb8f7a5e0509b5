"""Writes the floats of a dataset's state with twelve digits.

A dataset that sums weights up, or keeps rows in a buffer, continues with slightly other numbers.
"""

from typing import Any

from values import came_back, changing

FAMILY = "values"
BREAKS = ("STATE-6", "DOC-4")


def change(value: Any) -> Any:
    return float(f"{value:.12g}") if type(value) is float else value


def shows(play: Any) -> Any:
    return came_back(play, 0.1 + 0.2)


Adapter = changing(change)
