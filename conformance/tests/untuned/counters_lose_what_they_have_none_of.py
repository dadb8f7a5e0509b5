"""Decodes a counter as a sum of counters: entries of 0 or fewer are gone.

A state that counts what is left of each class, or below zero, comes back without these classes.
"""

from typing import Any

from edited import edited

FAMILY = "values"
BREAKS = ("STATE-6", "DOC-15", "STATE-3")
EDITS = [
    (
        "encoding/codecs.py",
        "            value = codec.type(codec.shape.build(_decode(payload, inside), payload))\n",
        "            value = codec.type(codec.shape.build(_decode(payload, inside), payload))\n"
        "            if codec.type is Counter:\n"
        "                value = +value\n",
    ),
]


def shows(play: Any) -> Any:
    from collections import Counter

    from midepoch import state_from_json, state_to_json

    left = Counter({"cat": 2, "dog": 0, "owl": -1})
    return dict(state_from_json(state_to_json(left))), dict(left)


Adapter = edited(EDITS)
