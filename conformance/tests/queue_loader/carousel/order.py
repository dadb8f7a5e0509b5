"""Orders by arithmetic: a keyed permutation of 0 .. n - 1 that is computed index by index."""
import hashlib

import numpy

SMALL = 512  # below: a table, because a cipher of few bits mixes badly
ROUNDS = 6
_U = numpy.uint64


def words(*place):
    """Four 64-bit words that follow from a place: strings and integers."""
    text = "\x1f".join(f"{type(p).__name__[0]}{p}" for p in place)
    digest = hashlib.sha256(text.encode()).digest()
    return tuple(int.from_bytes(digest[i:i + 8], "big") for i in (0, 8, 16, 24))


def _mix(x):
    x = (x ^ (x >> _U(30))) * _U(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> _U(27))) * _U(0x94D049BB133111EB)
    return x ^ (x >> _U(31))


class Straight:
    """0, 1, 2, ..."""

    def __init__(self, n):
        self.n = n

    def at(self, start, stop):
        return list(range(start, min(stop, self.n)))


class Shuffled:
    """A permutation of 0 .. n - 1 for a seed and an epoch."""

    def __init__(self, n, seed, epoch):
        self.n = n
        key = words(seed, "order", epoch)
        if n <= SMALL:
            table = list(range(n))
            for i in range(n - 1, 0, -1):
                j = words(key[0], key[1], "swap", i)[0] % (i + 1)
                table[i], table[j] = table[j], table[i]
            self.table = table
            return
        self.table = None
        bits = (n - 1).bit_length()
        self.half = (bits + 1) // 2
        self.mask = _U((1 << self.half) - 1)
        self.keys = [_U(words(key[0], key[1], "round", r)[0]) for r in range(ROUNDS)]

    def _encrypt(self, x):
        left, right = x >> _U(self.half), x & self.mask
        for key in self.keys:
            left, right = right, left ^ (_mix(right + key) & self.mask)
        return (left << _U(self.half)) | right

    def at(self, start, stop):
        stop = min(stop, self.n)
        if start >= stop:
            return []
        if self.table is not None:
            return self.table[start:stop]
        with numpy.errstate(over="ignore"):
            x = self._encrypt(numpy.arange(start, stop, dtype=_U))
            while True:
                out = x >= _U(self.n)
                if not out.any():
                    return [int(i) for i in x]
                x[out] = self._encrypt(x[out])  # walk on until the value is in range


def order(n, seed, epoch, shuffle):
    return Shuffled(n, seed, epoch) if shuffle else Straight(n)
