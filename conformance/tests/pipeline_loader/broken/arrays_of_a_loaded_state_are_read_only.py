"""NumPy arrays in a dataset's state come back as views of the decoded bytes, which cannot be written to.  Who meets
it: a dataset that keeps its counters or its buffer in an array and goes on changing the array that it loaded;
the first batch after a resume raises.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome, take

BREAKS = ('RESUME-1',)

EDITS = [
    ('codec.py',
     'dtype=v[0]).reshape(v[1]).copy()',
     'dtype=v[0]).reshape(v[1])'),
]

sound, broken, Adapter = build(__file__, EDITS)


import numpy


class Stream:
    """Takes from two sources in turn; the places are in an array."""

    def __init__(self):
        self.at = numpy.zeros(2, dtype=numpy.int64)

    def __iter__(self):
        while self.at.sum() < 12:
            source = int(self.at.sum()) % 2
            self.at[source] += 1
            yield (source, int(self.at[source]) - 1)

    def state_dict(self):
        return {"at": self.at}

    def load_state_dict(self, state):
        self.at = state["at"]


def scenario(pl):
    first = pl.Loader(Stream(), 2, seed=1)
    take(iter(first), 3)
    again = pl.Loader(Stream(), 2, seed=1)
    again.load_state_dict(first.state_dict())
    return list(again)


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
