"""Encodes an array of a state in the order of its memory.

A dataset that keeps a transposed table in its state gets it back mixed up from JSON.
"""

from typing import Any

import numpy
from edited import edited

FAMILY = "values"
BREAKS = ("DOC-5", "DOC-15", "STATE-6", "STATE-3")
EDITS = [
    (
        "encoding/buffers.py",
        '"shape": shape, "data": encode_base64(array.tobytes())}\n\n\ndef decode_array',
        '"shape": shape, "data": encode_base64(array.tobytes("A"))}\n\n\ndef decode_array',
    ),
]


def shows(play: Any) -> Any:
    from midepoch.encoding import canonical

    table = numpy.arange(6).reshape(2, 3).T
    return canonical.loads(canonical.dumps(table)).tolist(), table.tolist()


Adapter = edited(EDITS)
