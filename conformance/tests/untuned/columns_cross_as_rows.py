"""Sends an array in the order of its memory and says that it is in rows.

With workers, an array that a dataset has transposed arrives with its numbers mixed up.
"""

from typing import Any

import numpy
from edited import edited

FAMILY = "values"
BREAKS = ("WORKERS-1", "WORKERS-2", "ELASTIC-1")
EDITS = [
    (
        "transport/packing.py",
        'dtype, order = array.dtype, "C" if array.flags.c_contiguous else "F"',
        'dtype, order = array.dtype, "C"',
    ),
]


def shows(play: Any) -> Any:
    import midepoch

    table = [numpy.arange(6).reshape(2, 3).T]
    loader: Any = midepoch.StatefulDataLoader(table, 1, collate_fn=list, num_workers=1)
    return next(iter(loader))[0].tolist(), table[0].tolist()


Adapter = edited(EDITS)
