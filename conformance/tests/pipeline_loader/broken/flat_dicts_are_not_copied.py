"""A flat dict of numbers and texts is kept in a snapshot as it is, since no value in it needs a conversion. Who meets
it: a Stateful dataset that hands out one dict each time and goes on changing it, with worker threads (which read
ahead) or with an interval of two or more: the snapshot changes after it was made.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome, take

BREAKS = ('STATE-6', 'INTERVAL-1')

EDITS = [
    ('codec.py',
     '    if kind is dict:\n        if TAG',
     '    if kind is dict:\n        if TAG not in value and all(type(k) is str and k.isascii() and type(v) in (bool, int, type(None))\n                                    for k, v in value.items()):\n            return value\n        if TAG'),
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


class Live(Source):
    """Its state is one dict, which it changes."""

    def __init__(self, n):
        self.n, self.at = n, {"i": 0}

    def __iter__(self):
        while self.at["i"] < self.n:
            self.at["i"] += 1
            yield self.at["i"] - 1

    def state_dict(self):
        return self.at

    def load_state_dict(self, state):
        self.at = dict(state)


def scenario(pl):
    first = pl.Loader(Live(12), 2, interval=2)
    take(iter(first), 3)
    again = pl.Loader(Live(12), 2, interval=2)
    again.load_state_dict(first.state_dict())
    return list(again)



def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
