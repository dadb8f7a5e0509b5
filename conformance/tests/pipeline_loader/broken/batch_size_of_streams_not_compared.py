"""A Stateful stream knows its place by itself, so its state is accepted under another batch size. That is right where
the state is a snapshot of this very batch; with an interval batches are made again, in the new size. Who meets it:
users of a Stateful stream with an interval above one who change the batch size at a restart: samples are lost.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome, take

BREAKS = ('REFUSE-3',)

EDITS = [
    ('loader.py',
     '        wrong = {k: (saved[k], own[k]) for k in own',
     '        if self.style == "stream" and self.stateful:\n            own["batch"] = saved["batch"]  # the place of a stream is its own matter\n        wrong = {k: (saved[k], own[k]) for k in own'),
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


def scenario(pl):
    first = pl.Loader(Source(12), 2, interval=3)
    got = take(iter(first), 2)
    again = pl.Loader(Source(12), 3, interval=3)
    again.load_state_dict(first.state_dict())
    return got + list(again)


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
