"""After an exception no snapshot is taken at once, and the replay counts the failed batch as if nothing had been read for
it.  Who meets it: a Stateful stream with a broken row and a long snapshot interval.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, Walk, build, outcome, take

BREAKS = ('FAULT-11',)

EDITS = [
    ('hand.py',
     '                return Reply("error", job_id, self.lane, number, fault.error, count,\n                             self.snapshot(None), False, fault.fetched)\n',
     '                return Reply("error", job_id, self.lane, number, fault.error, count,\n                             self.snapshot(number + 1), False, fault.fetched - 1)\n'),
]

sound, broken, Adapter = build(__file__, EDITS)


class Bad:
    """A Stateful stream whose row 3 cannot be read, at first."""

    bad, at = 3, 0

    def __iter__(self):
        return self

    def __next__(self):
        if self.at >= 12:
            raise StopIteration
        self.at += 1
        if self.at - 1 == self.bad:
            raise OSError("not now")
        return self.at - 1

    def state_dict(self):
        return self.at

    def load_state_dict(self, state):
        self.at = state


def scenario(dk):
    first = dk.Loader(Bad(), 2, seed=1, snapshot_every=10)
    it = iter(first)
    next(it)
    try:
        next(it)
    except OSError:
        pass
    next(it)
    data = Bad()
    data.bad = None
    again = dk.Loader(data, 2, seed=1, snapshot_every=10)
    again.load_state_dict(first.state_dict())
    return list(again)


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
