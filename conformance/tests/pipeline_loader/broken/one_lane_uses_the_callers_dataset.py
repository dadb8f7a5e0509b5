"""Only several lanes need copies of the dataset, so a single one in the caller's process reads the caller's own object.
Who meets it: users of a Stateful stream that keeps its place, without workers or with one thread: after an epoch that
was broken off the next one begins in its middle.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome, take

BREAKS = ('EPOCH-5', 'RESUME-7')

EDITS = [
    ('line.py',
     '            if own.has_lanes and own.worker_kind != "process" or own.has_lanes and not own.workers:',
     '            if own.has_lanes and self.lanes > 1 and (own.worker_kind != "process" or not own.workers):'),
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
    loader = pl.Loader(Source(12), 2)
    take(iter(loader), 2)
    return list(loader)


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
