"""What an epoch leaves over is taken from its end, items[-(n % size):]. Where nothing is left over this is items[-0:],
and so the whole epoch. Who meets it: users of the tail rule rollover, in the epoch in which carried and new samples
together fill whole batches.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome, take

BREAKS = ('EPOCH-7', 'BASIS-3')

EDITS = [
    ('deck.py',
     'items[whole * self.size:]] if tail',
     'items[-(n % self.size):]] if tail'),
]

sound, broken, Adapter = build(__file__, EDITS)


def scenario(pl):
    loader = pl.Loader(list(range(10)), 4, tail="rollover")
    return [list(loader) for _ in range(3)]


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
