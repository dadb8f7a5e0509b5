"""A worker hands over the state that the dataset returned, and it is serialised only when its batch is delivered; by
then a thread has made further batches.  Who meets it: threads that read ahead, and a dataset that returns the same
dictionary each time and goes on changing it (worker processes are right, because they send a copy).
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome, take

BREAKS = ('STATE-6', 'RESUME-1')

EDITS = [
    ('lane.py',
     'snap["data"], snap["has"] = freeze(self.data.state_dict()), "d"',
     'snap["data"], snap["has"] = self.data.state_dict(), "d"'),
    ('lane.py',
     'snap["iter"], snap["has"] = freeze(self.it.state_dict()), snap["has"] + "i"',
     'snap["iter"], snap["has"] = self.it.state_dict(), snap["has"] + "i"'),
    ('lane.py',
     '        return answer.snap\n    number',
     '        return {**answer.snap, "data": freeze(answer.snap["data"]), "iter": freeze(answer.snap["iter"])}\n    number'),
]

sound, broken, Adapter = build(__file__, EDITS)


import time


class Stream:
    def __init__(self):
        self.own = {"pos": 0}

    def __iter__(self):
        while self.own["pos"] < 20:
            self.own["pos"] += 1
            yield self.own["pos"] - 1

    def state_dict(self):
        return self.own

    def load_state_dict(self, state):
        self.own = state


def scenario(pl):
    first = pl.Loader(Stream(), 2, seed=1, workers=1, prefetch=3)
    it = iter(first)
    next(it)
    time.sleep(0.3)  # a training step: the thread reads ahead as far as it may
    next(it)
    state = first.state_dict()
    first.close()
    again = pl.Loader(Stream(), 2, seed=1)
    again.load_state_dict(state)
    return list(again)


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
