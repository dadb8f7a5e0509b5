"""The copy that each lane gets of a dataset is shallow. Who meets it: a dataset whose setup writes into a part of it
(its config, say), with several lanes in one process (threads, or no workers): all lanes read the share of the last
one.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome, take

BREAKS = ('BASIS-3', 'WORKERS-1')

EDITS = [
    ('line.py',
     'data = copy.deepcopy(data)',
     'data = copy.copy(data)'),
]

sound, broken, Adapter = build(__file__, EDITS)


class Stream:
    def __init__(self, n):
        self.n, self.config = n, {}

    def __iter__(self):
        for i in range(self.config["lane"], self.n, self.config["lanes"]):
            yield i


def setup(lane, lanes, dataset):
    dataset.config.update(lane=lane, lanes=lanes)


def scenario(pl):
    return list(pl.Loader(Stream(12), 2, lanes=2, setup=setup))



def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
