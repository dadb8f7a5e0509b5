"""A batch that failed is made again as a whole one: where the row does not fail again, the replay reads more rows than the
run had.  Who meets it: a plain stream with one row that could not be read for a moment, and a restart later.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, Walk, build, outcome, take

BREAKS = ('FAULT-11',)

EDITS = [
    ('hand.py',
     'most = failed or self.job.batch_size or 1\n',
     'most = self.job.batch_size or 1\n'),
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
        if self.i >= 12:
            raise StopIteration
        return self.i


def scenario(dk):
    data = Flaky()
    data.bad = 3
    first = dk.Loader(data, 3, seed=1)
    it = iter(first)
    next(it)
    try:
        next(it)
    except OSError:
        pass
    again = dk.Loader(Flaky(), 3, seed=1)
    again.load_state_dict(first.state_dict())
    return list(again)


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
