"""After anything unusual the hosts are forgotten, not closed: for processes their pipes do the rest, but threads wait
for ever. Who meets it: a program with worker threads whose interrupts are caught and which goes on, or which closes
its loader and makes a new one: each time the threads of before stay.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome, take

BREAKS = ('FAULT-7',)

EDITS = [
    ('loader.py',
     '    def drop(self):\n        self.line = None\n        self.loader._pool.close()',
     '    def drop(self):\n        self.line = None\n        self.loader._pool.hosts = []'),
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


import threading


class Interrupted(Rows):
    def __getitem__(self, i):
        if i == 5:
            raise KeyboardInterrupt
        return i


def scenario(pl):
    before = threading.active_count()
    for _ in range(3):
        loader = pl.Loader(Interrupted(12), 2, workers=2)
        it = iter(loader)
        try:
            take(it, 4)
        except KeyboardInterrupt:
            pass
        loader.close()
    return threading.active_count() - before



def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
