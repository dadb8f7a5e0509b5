"""An epoch that is named begins with a new position, without the samples that rolled over. Who meets it: a loop that
names each epoch, under the tail rule rollover: what an epoch left over is lost.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome, take

BREAKS = ('EPOCH-6', 'EPOCH-7')

EDITS = [
    ('loader.py',
     'self._cursor = dataclasses.replace(self._cursor, epoch=max(self._cursor.epoch, epoch))',
     'self._cursor = Cursor(epoch=max(self._cursor.epoch, epoch), mark=self._cursor.mark, restore=self._cursor.restore)'),
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
    loader = pl.Loader(Rows(10), 4, tail="rollover")
    out = []
    for e in range(2):
        loader.name_epoch(e)
        out += list(loader)
    return out



def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
