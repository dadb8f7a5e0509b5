"""Converts the arrays of a dataset's state to the machine's own byte order.

A dataset that keeps raw offsets of a big-endian file format misreads them after a restart.
"""

from typing import Any

import numpy
from values import came_back, changing

FAMILY = "values"
BREAKS = ("STATE-6", "DOC-4")


def change(value: Any) -> Any:
    if isinstance(value, numpy.ndarray):
        return value.astype(value.dtype.newbyteorder("="))
    return value


def shows(play: Any) -> Any:
    return came_back(play, numpy.arange(3, dtype=">i4"), lambda v: v.dtype.str)


Adapter = changing(change)
