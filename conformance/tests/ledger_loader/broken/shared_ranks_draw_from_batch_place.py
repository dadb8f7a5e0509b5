"""Each rank seeds its part of a shared batch from the place of the batch's first sample, and not of its own first: all
ranks draw the same values. Who meets it: ranks that share batches and augment samples.
"""
import random
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, Walk, build, outcome, take

BREAKS = ('WORLD-6',)

EDITS = [
    ('plan.py',
     '            entries[i] = ([values[p % n] for p in own], own.start)\n',
     '            entries[i] = ([values[p % n] for p in own], first)\n'),
]

sound, broken, Adapter = build(__file__, EDITS)


class Noisy(Rows):
    def __getitem__(self, i):
        return i, round(random.random(), 6)


def scenario(dk):
    return [list(dk.Loader(Noisy(13), 4, order="shuffle", seed=1, ranks="shared", rank=r, world=2)) for r in range(2)]


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
