"""The interval is divided by the number of lanes and rounded down; an interval below that number becomes 0, which stands
for no snapshots. Who meets it: users of a Stateful stream with two workers and the interval 1 that is the default: a
resume is exact, but reads the epoch again from its beginning.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome, take

BREAKS = ('COST-3',)

EDITS = [
    ('line.py',
     'max(1, own.interval // self.lanes) if own.interval else 0',
     'own.interval // self.lanes'),
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
    """Counts the samples that are read, in one list for all copies."""

    def __init__(self, n, here, read):
        super().__init__(n, here)
        self.read = read

    def __deepcopy__(self, memo):
        return Counted(self.n, self.here, self.read)

    def __iter__(self):
        p = self.here()
        items = list(range(p.lane, self.n, p.lanes))
        while self.at < len(items):
            self.at += 1
            self.read.append(1)
            yield items[self.at - 1]


def scenario(pl):
    cost = []
    for batches in (4, 40):
        first = pl.Loader(Counted(200, pl.here, []), 2, lanes=2)
        take(iter(first), batches)
        read = []
        again = pl.Loader(Counted(200, pl.here, read), 2, lanes=2)
        again.load_state_dict(first.state_dict())
        next(iter(again))
        cost.append(len(read))
    return cost


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
