"""Decodes a mutable byte string of a state as an immutable one.

A dataset that goes on filling its buffer fails at the first row after a restart from JSON.
"""

from typing import Any

from edited import edited

FAMILY = "encoding"
BREAKS = ("DOC-15", "STATE-6", "STATE-3", "DOC-4")
EDITS = [
    (
        "encoding/codecs.py",
        "[bytearray], leaves.encode_base64, leaves.decode_bytearray)",
        "[bytearray], leaves.encode_base64, leaves.decode_base64)",
    ),
]


def shows(play: Any) -> Any:
    import midepoch

    tree: Any = {"buffer": bytearray(b"half a row"), "name": b"rows"}
    back = midepoch.state_from_json(midepoch.state_to_json(tree))
    return repr(back), repr(tree)


Adapter = edited(EDITS)
