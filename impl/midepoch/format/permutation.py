"""The order of a shuffled epoch, computed index by index instead of stored.

The permutation is defined to the bit in ``spec/order.md``; this file follows it
and is checked against the published vectors. Pure: NumPy alone, no torch.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from midepoch.format.seeds import derive

__all__ = ["FISHER_YATES_MAX", "ROUNDS", "Permutation", "mix64"]

FISHER_YATES_MAX = 4096
"""The largest domain that is shuffled outright; larger ones use the Feistel network."""

ROUNDS = 8
BLOCK = 16384
"""Indices computed at once: four columns of 64-bit words fit the second-level cache."""

_MASK = 0xFFFF_FFFF_FFFF_FFFF
_M1 = 0xBF58_476D_1CE4_E5B9
_M2 = 0x94D0_49BB_1331_11EB
_GOLDEN = 0x9E37_79B9_7F4A_7C15
_MAX_N = 2**63 - 1

_Words = npt.NDArray[np.uint64]


def mix64(value: int) -> int:
    """Return the 64-bit finaliser of ORDER-2 applied to ``value`` (0 <= value < 2**64).

    >>> hex(mix64(1))
    '0x5692161d100b05e5'
    """
    value = ((value ^ (value >> 30)) * _M1) & _MASK
    value = ((value ^ (value >> 27)) * _M2) & _MASK
    return value ^ (value >> 31)


class Permutation:
    """The permutation of ``range(n)`` for one key (ORDER-1 to ORDER-4).

    Memory is O(1) in ``n``; ``indices(start, stop)`` costs O(stop - start) at any position.

    >>> sorted(Permutation(5, key=7).indices(0, 5))
    [0, 1, 2, 3, 4]
    """

    def __init__(self, n: int, key: int) -> None:
        """Prepare the permutation of ``range(n)`` (0 <= n < 2**63) under a 64-bit ``key``."""
        if not 0 <= n <= _MAX_N:
            raise ValueError(f"a permutation needs 0 <= n < 2**63, got {n}")
        self.n = n
        self.key = key
        self._table: list[int] | None = None
        if n <= FISHER_YATES_MAX:
            self._table = _fisher_yates(n, key)
        else:
            self._a = math.isqrt(n - 1) + 1
            self._b = -(-n // self._a)
            self._keys = [derive(key, "order.round", r) for r in range(ROUNDS)]

    def indices(self, start: int, stop: int) -> list[int]:
        """Return the elements at positions ``start <= i < stop``.

        Raises:
            ValueError: the range is not inside ``[0, n]``.
        """
        if not 0 <= start <= stop <= self.n:
            raise ValueError(f"positions {start}..{stop} are outside a permutation of {self.n}")
        if self._table is not None:
            return self._table[start:stop]
        out = self._block(start, min(start + BLOCK, stop))
        for low in range(start + BLOCK, stop, BLOCK):
            out += self._block(low, min(low + BLOCK, stop))
        return out

    def iterate(self, start: int = 0) -> Iterator[int]:
        """Yield the elements from position ``start`` to the end, a block at a time."""
        for low in range(start, self.n, BLOCK):
            yield from self.indices(low, min(low + BLOCK, self.n))

    def _block(self, start: int, stop: int) -> list[int]:
        x = self._encrypt(np.arange(start, stop, dtype=np.uint64))
        outside = np.flatnonzero(x >= np.uint64(self.n))
        while outside.size:  # cycle walking: at most a - 1 of the a*b points lie outside
            x[outside] = self._encrypt(x[outside])
            outside = outside[x[outside] >= np.uint64(self.n)]
        result: list[int] = x.tolist()
        return result

    def _encrypt(self, x: _Words) -> _Words:
        a, b = np.uint64(self._a), np.uint64(self._b)
        left: _Words = x // b
        right: _Words = x - left * b
        # Two more columns serve all rounds: new memory would cost more than the arithmetic.
        word, spare = np.empty_like(x), np.empty_like(x)
        for r, key in enumerate(self._keys):
            moved, fixed, m = (left, right, a) if r % 2 == 0 else (right, left, b)
            np.add(fixed, np.uint64(key), out=word)
            _scale_mixed(word, m, spare)
            moved += word  # both below m < 2**32, so this cannot wrap
            np.subtract(moved, m, out=spare)  # wraps to a huge word if moved < m
            np.minimum(moved, spare, out=moved)
        left *= b
        left += right
        return left


def _scale_mixed(h: _Words, m: np.uint64, t: _Words) -> None:
    """Put ``floor(mix64(h) * m / 2**64)`` in place of every word ``h``, exactly, for m < 2**32.

    ``t`` is overwritten.
    """
    np.right_shift(h, np.uint64(30), out=t)
    h ^= t
    h *= np.uint64(_M1)
    np.right_shift(h, np.uint64(27), out=t)
    h ^= t
    h *= np.uint64(_M2)
    np.right_shift(h, np.uint64(31), out=t)
    h ^= t
    np.bitwise_and(h, np.uint64(0xFFFF_FFFF), out=t)
    t *= m
    t >>= np.uint64(32)
    h >>= np.uint64(32)
    h *= m
    h += t
    h >>= np.uint64(32)


def _fisher_yates(n: int, key: int) -> list[int]:
    table = list(range(n))
    counter = key
    for i in range(n - 1, 0, -1):
        counter = (counter + _GOLDEN) & _MASK
        j = (mix64(counter) * (i + 1)) >> 64
        table[i], table[j] = table[j], table[i]
    return table
