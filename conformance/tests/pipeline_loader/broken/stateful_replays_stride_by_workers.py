"""The indices that a lane of a Stateful random-access dataset replays are as far apart as there are workers. Who meets
it: such a dataset with an interval of two or more, resumed under another number of workers than lanes.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome, take

BREAKS = ('ELASTIC-1',)

EDITS = [
    ('line.py',
     'range(first, first + entry["again"] * self.lanes, self.lanes)]',
     'range(first, first + entry["again"] * len(self.hosts), len(self.hosts))]'),
]

sound, broken, Adapter = build(__file__, EDITS)


class Rows:
    """Random access: sample i is i."""

    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return i


class Trail(Rows):
    """A sample tells the one that was asked for before it."""

    last = None

    def __getitem__(self, i):
        before, self.last = self.last, i
        return i, before

    def state_dict(self):
        return {"last": self.last}

    def load_state_dict(self, state):
        self.last = state["last"]


def scenario(pl):
    def make(workers):
        return pl.Loader(Trail(40), 2, lanes=2, workers=workers, interval=8)
    first = make(2)
    it = iter(first)
    take(it, 6)
    again = make(0)
    again.load_state_dict(first.state_dict())
    return list(again) == list(it)



def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
