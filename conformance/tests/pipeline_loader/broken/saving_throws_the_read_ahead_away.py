"""Before a state is made the worker threads are stopped, so that none is within a sample; what they had read ahead is
read again afterwards. Who meets it: a program that saves in an epoch with worker threads: samples are fetched twice.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome, take

BREAKS = ('COST-5',)

EDITS = [
    ('loader.py',
     '    def state_dict(self):\n        c = self._cursor',
     '    def state_dict(self):\n        it = self._owner()\n        if it is not None and it.line is not None and self.workers and self.worker_kind == "thread":\n            it.drop()  # no thread is within a sample now\n        c = self._cursor'),
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


import time


class Counted(Rows):
    fetched = 0

    def __getitem__(self, i):
        Counted.fetched += 1
        return i


def scenario(pl):
    Counted.fetched = 0
    loader = pl.Loader(Counted(30), 1, workers=2)
    it, out = iter(loader), []
    for _ in range(10):
        out += take(it, 3)
        time.sleep(0.05)
        loader.state_dict()
    return out == [[i] for i in range(30)], Counted.fetched > 30



def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
