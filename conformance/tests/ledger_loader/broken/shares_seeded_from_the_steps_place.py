"""Under shared ranks, each rank counts the places of its samples from the beginning of the step and not of its own share:
what a sample draws depends on the number of ranks, and the ranks draw alike.  Who meets it: augmentation on several GPUs.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, Walk, build, outcome, take

BREAKS = ('WORLD-6',)

EDITS = [
    ('plan.py',
     'entries[i] = ([values[p % n] for p in own], own.start)',
     'entries[i] = ([values[p % n] for p in own], first)'),
]

sound, broken, Adapter = build(__file__, EDITS)


class Drawn(Rows):
    def __getitem__(self, i):
        import random
        return i, random.random()


def scenario(dk):
    def rows(world):
        ranks = [dk.Loader(Drawn(8), 4, seed=1, ranks="shared", rank=r, world=world) for r in range(world)]
        return sorted(row for loader in ranks for b in loader for row in b)

    return rows(1) == rows(2)


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
