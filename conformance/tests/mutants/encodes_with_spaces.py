"""Writes JSON with spaces: it can be read, but the bytes differ."""

import json
from typing import Any

from format_base import mutant

import midepoch

EXPECTED = "DOC-5"
LARGEST = {"workers": 0, "sessions": 1, "steps": 9, "samples": 1}

canonical = midepoch.state_to_json


def spaced(state: Any) -> bytes:
    tree = json.loads(canonical(state))
    return json.dumps(tree, ensure_ascii=False, sort_keys=True).encode()


midepoch.state_to_json = spaced

Adapter = mutant()
