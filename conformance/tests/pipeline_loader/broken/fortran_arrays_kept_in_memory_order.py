"""An array in a dataset's state is written in the order in which it lies in memory ("A", no copy is needed), and read
back in C order. Who meets it: a Stateful dataset that keeps an array in Fortran order, such as a transposed one, in
its state.
"""
import os
import sys

import numpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome, take

BREAKS = ('STATE-6',)

EDITS = [
    ('codec.py',
     '        return tag("array", [value.dtype.str, list(value.shape), _b64(value.tobytes())])',
     '        return tag("array", [value.dtype.str, list(value.shape), _b64(value.tobytes("A"))])'),
]

sound, broken, Adapter = build(__file__, EDITS)


class Table:
    """A stream with a table of what it has seen, one column for each of its two sources."""

    def __init__(self, n):
        self.n, self.at, self.seen = n, 0, numpy.zeros((2, 3)).T

    def __iter__(self):
        while self.at < self.n:
            self.seen[self.at % 3, self.at % 2] += self.at
            self.at += 1
            yield [self.at - 1, self.seen.tolist()]

    def state_dict(self):
        return {"at": self.at, "seen": self.seen}

    def load_state_dict(self, state):
        self.at, self.seen = state["at"], state["seen"]


def scenario(pl):
    first = pl.Loader(Table(8), 2)
    take(iter(first), 2)
    again = pl.Loader(Table(8), 2)
    again.load_state_dict(first.state_dict())
    return list(again)


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
