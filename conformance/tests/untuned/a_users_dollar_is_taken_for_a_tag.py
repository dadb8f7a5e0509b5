"""Writes a user's mapping as a plain object, also if a key of it begins with a dollar sign.

In the text it cannot be told from a tag: ``{"$tuple": [1, 2]}`` comes back as a tuple, and
``{"$ref": ...}`` cannot be read at all.
"""

from typing import Any

from edited import edited
from play import outcome

FAMILY = "encoding"
BREAKS = ("DOC-15", "DOC-5", "STATE-6", "STATE-3", "DOC-4")
EDITS = [
    (
        "encoding/shapes.py",
        '    return all(type(key) is str and not key.startswith("$") and is_text(key) '
        "for key in value)\n",
        "    return all(type(key) is str and is_text(key) for key in value)\n",
    ),
]


def shows(play: Any) -> Any:
    import midepoch

    trees: list[Any] = [{"$tuple": [1, 2]}, {"$ref": "a"}, {"a": 1, "$set": [2]}]
    return [
        outcome(lambda tree=tree: midepoch.state_from_json(midepoch.state_to_json(tree)))
        for tree in trees
    ], trees


Adapter = edited(EDITS)
