"""Joins the text that seeds are derived from with another character."""

import hashlib

from format_base import mutant

from midepoch.format import seeds

EXPECTED = "SEED-1"
LARGEST = {"workers": 0, "sessions": 1, "steps": 2, "samples": 1}


def digest(root: int, purpose: str, numbers: tuple[int, ...]) -> bytes:
    text = ":".join(["midepoch", "1", purpose, str(root), *map(str, numbers)])
    return hashlib.sha256(text.encode("ascii")).digest()


seeds._digest = digest

Adapter = mutant()
