"""Seeds NumPy with the low half of its word instead of the high half."""

import hashlib
from typing import Any

from format_base import mutant

from midepoch.format import seeds
from midepoch.lane import lane

EXPECTED = "SEED-4"
LARGEST = {"workers": 0, "sessions": 1, "steps": 2, "samples": 1}

right = seeds.derive_words


def low(root: int, purpose: str, *numbers: int) -> Any:
    text = "/".join(["midepoch", "1", purpose, str(root), *map(str, numbers)])
    digest = hashlib.sha256(text.encode()).digest()
    return right(root, purpose, *numbers)._replace(numpy=int.from_bytes(digest[20:24], "big"))


lane.derive_words = low

Adapter = mutant()
