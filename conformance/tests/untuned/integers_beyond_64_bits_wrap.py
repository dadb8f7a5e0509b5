"""Keeps the integers of a dataset's state in 64 bits; larger ones lose their upper part.

A dataset whose generator has a state of 128 bits draws other numbers after a restart.
"""

from typing import Any

from values import came_back, changing

FAMILY = "values"
BREAKS = ("STATE-6", "DOC-4")


def change(value: Any) -> Any:
    if type(value) is int and abs(value) >= 1 << 100:
        return value & 0xFFFF_FFFF_FFFF_FFFF
    return value


def shows(play: Any) -> Any:
    return came_back(play, (1 << 127) + 1)


Adapter = changing(change)
