"""The interval of a lane is the interval by the number of lanes where that is a whole number, and else one. Who meets
it: an interval of 100 with three workers: the state of the dataset is taken at each batch.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome, take

BREAKS = ('COST-2',)

EDITS = [
    ('line.py',
     'max(1, own.interval // self.lanes) if own.interval else 0',
     '(own.interval // self.lanes if own.interval % self.lanes == 0 else 1) if own.interval else 0'),
]

sound, broken, Adapter = build(__file__, EDITS)


class Source:
    """A stream with a state that keeps its place for the pass that comes next."""

    def __init__(self, n, here=None):
        self.n, self.here, self.at = n, here, 0

    def __iter__(self):
        p = self.here() if self.here else None
        lane, lanes = (p.lane, p.lanes) if p else (0, 1)
        start, self.at = self.at, 0
        for k, i in enumerate(range(lane, self.n, lanes)):
            if k >= start:
                self.at = k + 1
                yield i
        self.at = 0

    def state_dict(self):
        return {"at": self.at}

    def load_state_dict(self, state):
        self.at = state["at"]


class Counted(Source):
    calls = 0

    def state_dict(self):
        Counted.calls += 1
        return super().state_dict()


def scenario(pl):
    Counted.calls = 0
    list(pl.Loader(Counted(120, pl.here), 1, interval=20, lanes=3))
    return Counted.calls



def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
