"""The batch sampler's lists are collected for the whole epoch as they are.  Who meets it: a batch sampler that fills
one list again and again; every batch is the last one.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome, take

BREAKS = ('BASIS-3',)

EDITS = [
    ('deck.py',
     '                self._wind(mark)\n            items = [list(b) for b in self.sampler] if batched else list(self.sampler)',
     '                self._wind(mark)\n            items = list(self.sampler)'),
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


class Thrifty:
    def __len__(self):
        return 4

    def __iter__(self):
        batch = []
        for i in range(8):
            batch.append(i)
            if len(batch) == 2:
                yield batch
                batch.clear()


def scenario(pl):
    return list(pl.Loader(Rows(8), batch_sampler=Thrifty(), seed=1))


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
