"""Derives every seed from one root seed by hashing its purpose.

The specification defines the numbers to the bit (SEED-1 to SEED-5). Pure: this file computes
numbers and seeds nothing.
"""

from __future__ import annotations

import hashlib
import struct
from typing import NamedTuple

__all__ = ["ROOT_MAX", "BatchSeeds", "derive", "derive_words"]

_FOUR = struct.Struct(">4Q")

ROOT_MAX = 2**64 - 1
"""The largest root seed (SEED-5)."""


class BatchSeeds(NamedTuple):
    """The seeds of one batch, a sampler or a lane's start (SEED-2 to SEED-4)."""

    torch: int
    """For torch's default generator: 63 bits, so that it fits a tensor of signed integers."""
    python: int
    """For ``random.seed``."""
    numpy: int
    """For ``numpy.random.seed``: the high 32 bits of its word."""
    private: int
    """For the batch's private generators: 63 bits, too."""


def derive(root: int, purpose: str, *numbers: int) -> int:
    """Return the 64-bit number that ``root`` gives for ``purpose`` and ``numbers`` (SEED-1).

    The first eight bytes, big-endian, of the SHA-256 of the ASCII text
    ``midepoch/1/<purpose>/<root>/<number>/...``, all numbers in decimal.

    >>> derive(0, "order", 0)
    6192645256972319759
    """
    return int.from_bytes(_digest(root, purpose, numbers)[:8], "big")


def derive_words(root: int, purpose: str, *numbers: int) -> BatchSeeds:
    """Return the four words of the same digest as the seeds of the streams (SEED-4).

    >>> derive_words(0, "batch.map", 0, 3).torch == derive(0, "batch.map", 0, 3) >> 1
    True
    """
    w0, w1, w2, w3 = _FOUR.unpack(_digest(root, purpose, numbers))
    return BatchSeeds(w0 >> 1, w1, w2 >> 32, w3 >> 1)


def _digest(root: int, purpose: str, numbers: tuple[int, ...]) -> bytes:
    text = "/".join([f"midepoch/1/{purpose}/{root}", *map(str, numbers)])
    return hashlib.sha256(text.encode("ascii")).digest()
