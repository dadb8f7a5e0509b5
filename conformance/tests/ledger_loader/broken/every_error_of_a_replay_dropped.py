"""A replay drops each exception, not only those that the run before had raised: a slip in a condition (`is not None`).  Who
meets it: a file that cannot be read for a moment while a stream is resumed; all that follows is shifted.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, Walk, build, outcome, take

BREAKS = ('FAULT-10',)

EDITS = [
    ('hand.py',
     'if failed is None or fault.fetched < failed:',
     'if failed is not None and fault.fetched < failed:'),
]

sound, broken, Adapter = build(__file__, EDITS)


class Flaky:
    bad = None

    def __iter__(self):
        return FlakyIterator(self.bad)


class FlakyIterator:
    def __init__(self, bad):
        self.i, self.bad = -1, bad

    def __iter__(self):
        return self

    def __next__(self):
        self.i += 1
        if self.i == self.bad:
            raise OSError("not now")
        if self.i >= 10:
            raise StopIteration
        return self.i


def scenario(dk):
    first = dk.Loader(Flaky(), 2, seed=1)
    take(iter(first), 3)
    data = Flaky()
    data.bad = 2
    again = dk.Loader(data, 2, seed=1)
    again.load_state_dict(first.state_dict())
    return list(again)


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
