"""Makes an array contiguous before it encodes it, which turns one of no dimension into one of one.

A dataset that keeps its count in such an array gets a list of one number back.
"""

from typing import Any

import numpy
from edited import edited

FAMILY = "values"
BREAKS = ("DOC-5", "DOC-15", "STATE-6", "STATE-3")
EDITS = [
    (
        "encoding/buffers.py",
        "    dtype = array.dtype\n    if not _ARRAY_DTYPE",
        "    array = np.ascontiguousarray(array)\n    dtype = array.dtype\n    if not _ARRAY_DTYPE",
    ),
]


def shows(play: Any) -> Any:
    from midepoch.encoding import canonical

    values = [numpy.array(3.5), numpy.zeros((0, 2)), numpy.arange(6).reshape(2, 3).T]
    return [canonical.loads(canonical.dumps(value)).shape for value in values], [(), (0, 2), (3, 2)]


Adapter = edited(EDITS)
