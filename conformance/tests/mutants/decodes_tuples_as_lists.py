"""Decodes the canonical encoding of a tuple as a list."""

from typing import Any

from format_base import mutant

import midepoch

EXPECTED = "DOC-15"
LARGEST = {"workers": 0, "sessions": 2, "steps": 5, "samples": 1}

decode = midepoch.state_from_json


def listed(tree: Any) -> Any:
    if type(tree) is dict:
        return {key: listed(value) for key, value in tree.items()}
    return [listed(item) for item in tree] if type(tree) in (list, tuple) else tree


midepoch.state_from_json = lambda data: listed(decode(data))

Adapter = mutant()
