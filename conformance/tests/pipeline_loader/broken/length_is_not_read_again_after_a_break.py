"""The length of an epoch is read when its iterator is made, but not on the path of an epoch that was broken off. Who
meets it: a dataset that grows between epochs, in a loop that breaks epochs off: the next epoch lacks the new
samples.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome, take

BREAKS = ('EPOCH-5', 'BASIS-3')

EDITS = [
    ('deck.py',
     '        n = len(loader.dataset)\n        key',
     '        n = loader.samples\n        key'),
    ('loader.py',
     '            self._cursor = self._next_epoch(())\n        it = Iterator(self)',
     '            self._cursor = self._next_epoch(())\n        elif self.style == "map":\n            self.samples = len(self.dataset)\n        it = Iterator(self)'),
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
    data = Rows(8)
    loader = pl.Loader(data, 2)
    take(iter(loader), 2)
    data.n = 12
    return list(loader)



def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
