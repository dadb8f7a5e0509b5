"""The epoch after one that was broken off is the following one, whatever the caller has named; only the end of an epoch
looks at the name. Who meets it: a loop with a limit of steps that names its epochs after a jump.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome, take

BREAKS = ('EPOCH-8',)

EDITS = [
    ('loader.py',
     '            self._cursor = self._next_epoch(())\n        it = Iterator',
     '            self._cursor = Cursor(epoch=c.epoch + 1)\n        it = Iterator'),
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
    loader = pl.Loader(Rows(40), 4, shuffle=True, seed=1)
    take(iter(loader), 2)
    loader.name_epoch(5)
    twin = pl.Loader(Rows(40), 4, shuffle=True, seed=1)
    twin.name_epoch(5)
    return list(loader) == list(twin)



def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
