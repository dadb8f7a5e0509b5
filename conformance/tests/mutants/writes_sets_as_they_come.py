"""Encodes sets and mappings in another order than the sorted one, and decodes them all the same."""

import json
from typing import Any

from format_base import mutant

import midepoch

EXPECTED = "DOC-5"
LARGEST = {"workers": 0, "sessions": 2, "steps": 5, "samples": 1}

encode, decode = midepoch.state_to_json, midepoch.state_from_json


def turned(tree: Any) -> Any:
    if type(tree) is dict:
        return {key: _turned(key, turned(value)) for key, value in tree.items()}
    return [turned(item) for item in tree] if type(tree) is list else tree


def _turned(key: str, value: Any) -> Any:
    return value[::-1] if key in ("$set", "$frozenset", "$dict", "$counter") else value


def rewritten(data: bytes) -> bytes:
    tree = turned(json.loads(data))
    text = json.dumps(tree, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass")


midepoch.state_to_json = lambda state: rewritten(encode(state))
midepoch.state_from_json = lambda data: decode(rewritten(data))

Adapter = mutant()
