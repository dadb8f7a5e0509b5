"""Hosts are marked as busy where they are made, and not where they are used again. Who meets it: persistent workers
whose first epoch was whole and whose second one is broken off: the third begins with answers of the second.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome, take

BREAKS = ('EPOCH-5', 'WORKERS-2')

EDITS = [
    ('loader.py',
     '        own._pool.idle = False\n',
     ''),
    ('hosts.py',
     '        if not self.hosts:\n            if workers == 0:',
     '        if not self.hosts:\n            self.idle = False\n            if workers == 0:'),
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


def scenario(pl):
    loader = pl.Loader(Rows(12), 2, workers=2, persistent=True)
    list(loader)
    take(iter(loader), 2)
    return list(loader)



def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
