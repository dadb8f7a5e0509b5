"""An exception that a map-style dataset raises while delivered batches are made again is dropped: their rows are not
needed. Who meets it: users of a stateful map-style dataset with an interval, when a file cannot be read for a moment
during the resume: the dataset's state then lacks that sample, and nobody is told.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome, take

BREAKS = ('FAULT-10',)

EDITS = [
    ('lane.py',
     '                if not bad:\n                    raise\n',
     '                if not bad and indices is None:\n                    raise\n'),
]

sound, broken, Adapter = build(__file__, EDITS)


class Counted:
    """Random access; it numbers the samples that it has read."""

    def __init__(self, fails=()):
        self.read, self.fails = 0, set(fails)

    def __len__(self):
        return 12

    def __getitem__(self, i):
        if i in self.fails:
            raise OSError(f"{i} cannot be read")
        self.read += 1
        return [i, self.read]

    def state_dict(self):
        return {"read": self.read}

    def load_state_dict(self, state):
        self.read = state["read"]


def scenario(pl):
    first = pl.Loader(Counted(), 2, interval=3)
    take(iter(first), 2)
    again = pl.Loader(Counted(fails=[1]), 2, interval=3)
    again.load_state_dict(first.state_dict())
    return outcome(next, iter(again))


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
