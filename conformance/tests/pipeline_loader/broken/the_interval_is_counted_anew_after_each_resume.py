"""The batches between two snapshots are counted from the resume on.  Who meets it: a job that is interrupted more often
than it takes snapshots; no snapshot is ever taken, and each resume makes more batches again than the one before.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome, take

BREAKS = ('COST-3',)

EDITS = [
    ('lane.py',
     'self.made, self.over, self.it = 0, False, None',
     'self.made, self.over, self.it, self.fresh = 0, False, None, 0'),
    ('lane.py',
     '            self.made += 1\n            if not self.over and job.step and (self.made % job.step == 0',
     '            self.made += 1\n            self.fresh += 1\n            if not self.over and job.step and (self.fresh % job.step == 0'),
]

sound, broken, Adapter = build(__file__, EDITS)


READ = []


class Stream:
    def __init__(self):
        self.pos = 0

    def __iter__(self):
        while self.pos < 40:
            READ.append(self.pos)
            self.pos += 1
            yield self.pos - 1

    def state_dict(self):
        return {"pos": self.pos}

    def load_state_dict(self, state):
        self.pos = state["pos"]


def scenario(pl):
    state, read = None, []
    for _ in range(6):
        loader = pl.Loader(Stream(), 2, seed=1, interval=3)
        if state is not None:
            loader.load_state_dict(state)
        READ.clear()
        take(iter(loader), 2)
        state = loader.state_dict()
        read.append(len(READ))
    return read


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
