"""A snapshot follows a batch that raised, and it keeps the list of the failed batches of before, which no replay looks
at. Who meets it: a Stateful dataset with an unreadable sample now and then: the state grows with each.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome, take

BREAKS = ('COST-1',)

EDITS = [
    ('lane.py',
     '    if answer.snap is not None:\n        return answer.snap\n    number = entry["made"] + entry["again"]\n',
     '    number = entry["made"] + entry["again"]\n    if answer.snap is not None:\n        return {**answer.snap, "bad": entry["bad"] + [number] if answer.bad else entry["bad"]}\n'),
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


import json


class Bad:
    """Each second sample is unreadable."""

    def __init__(self, n):
        self.n, self.at = n, 0

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        if i % 2:
            raise ValueError(f"sample {i}")
        return i

    def state_dict(self):
        return {}

    def load_state_dict(self, state):
        pass


def scenario(pl):
    loader = pl.Loader(Bad(400), 1)
    it, sizes = iter(loader), []
    for i in range(400):
        try:
            next(it)
        except ValueError:
            pass
        if i in (110, 310):
            sizes.append(len(json.dumps(loader.state_dict())))
    return sizes



def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
