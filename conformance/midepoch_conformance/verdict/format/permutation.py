"""The format's order and seeds, written from the specification's pages alone (pure)."""

from __future__ import annotations

import functools
import hashlib
import math
import random
from collections.abc import Callable, Sequence

from midepoch_conformance.case.data.published import pcg64

__all__ = ["derive", "derive_words", "elements", "key", "private", "streams", "torch_float"]

_WORD = 2**64
_SMALL = 4096
_ROUNDS = 8


def derive_words(root: int, purpose: str, *numbers: int) -> tuple[int, int, int, int]:
    """Return the four words that belong to a purpose and a place.

    Example:
        >>> derive_words(7, "batch.map", 2, 5)[0]
        4592959449762576890
    """
    text = f"midepoch/1/{purpose}/{root}" + "".join(f"/{n}" for n in numbers)
    digest = hashlib.sha256(text.encode("ascii")).digest()
    w = [int.from_bytes(digest[i : i + 8], "big") for i in (0, 8, 16, 24)]
    return w[0], w[1], w[2], w[3]


def derive(root: int, purpose: str, *numbers: int) -> int:
    """Return the first of the :func:`derive_words`."""
    return derive_words(root, purpose, *numbers)[0]


def key(root: int, epoch: int) -> int:
    """Return the key of an epoch's order.

    Example:
        >>> key(0, 0)
        6192645256972319759
    """
    return derive(root, "order", epoch)


def elements(n: int, order_key: int, positions: Sequence[int]) -> list[int]:
    """Return the elements at some positions of the permutation of ``n``.

    Example:
        >>> elements(5, 0, range(5)), elements(10007, 1, [0, 1, 29])
        ([2, 3, 0, 1, 4], [9987, 4728, 2977])
    """
    if n <= _SMALL:
        table = _table(n, order_key)
        return [table[p] for p in positions]
    return [_walk(n, order_key, p) for p in positions]


def streams(w: Sequence[int]) -> tuple[random.Random, random.Random, random.Random]:
    """Return generators that draw as ``random``, ``numpy.random`` and ``torch`` do from words.

    ``random()`` of the first two is the stream's next double; of the third, the upper bits of
    ``getrandbits(32)`` are dropped to make a float32 (see :func:`torch_float`).
    """
    python = random.Random(w[1])
    return python, _mersenne(w[2] >> 32), _mersenne(w[0] >> 1 & 0xFFFFFFFF)


def private(w: Sequence[int]) -> Callable[[], float]:
    """Return a function that adds up the next numbers of a batch's own generators.

    These are ``torch.rand(())`` in single precision and ``random()`` of NumPy's.

    Example:
        >>> f"{private(derive_words(7, 'batch.map', 2, 5))() - 0.6985995525785932:.6f}"
        '0.189104'
    """
    seed = w[3] >> 1
    torch, pcg = _mersenne(seed & 0xFFFFFFFF), pcg64(seed)
    return lambda: torch_float(torch) + pcg()


def torch_float(generator: random.Random) -> float:
    """Return the next number of ``torch.rand(())`` in single precision: 24 bits of a word."""
    return float((generator.getrandbits(32) & 0xFFFFFF) / 2**24)


def _mersenne(seed: int) -> random.Random:
    """Return a Mersenne Twister initialised by one number, as ``torch`` and NumPy do."""
    state = [seed]
    for i in range(1, 624):
        state.append((1812433253 * (state[-1] ^ (state[-1] >> 30)) + i) % 2**32)
    generator = random.Random()
    generator.setstate((3, (*state, 624), None))
    return generator


def _mix(x: int) -> int:
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) % _WORD
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) % _WORD
    return x ^ (x >> 31)


@functools.lru_cache(maxsize=64)
def _table(n: int, order_key: int) -> tuple[int, ...]:
    t, counter = list(range(n)), order_key
    for i in range(n - 1, 0, -1):
        counter = (counter + 0x9E3779B97F4A7C15) % _WORD
        j = (_mix(counter) * (i + 1)) >> 64
        t[i], t[j] = t[j], t[i]
    return tuple(t)


def _walk(n: int, order_key: int, position: int) -> int:
    a = math.isqrt(n - 1) + 1
    b = -(-n // a)
    x = _encrypt(position, a, b, order_key)
    while x >= n:
        x = _encrypt(x, a, b, order_key)
    return x


def _encrypt(x: int, a: int, b: int, order_key: int) -> int:
    left, right = divmod(x, b)
    for r, round_key in enumerate(_round_keys(order_key)):
        if r % 2 == 0:
            left = (left + ((_mix((right + round_key) % _WORD) * a) >> 64)) % a
        else:
            right = (right + ((_mix((left + round_key) % _WORD) * b) >> 64)) % b
    return left * b + right


@functools.lru_cache(maxsize=64)
def _round_keys(order_key: int) -> tuple[int, ...]:
    return tuple(derive(order_key, "order.round", r) for r in range(_ROUNDS))
