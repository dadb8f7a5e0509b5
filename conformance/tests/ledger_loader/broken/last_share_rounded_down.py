"""The shares of a last step that the ranks do not divide are rounded down, so its last samples are delivered by no rank.
Who meets it: several ranks, tail "keep", a length that is no multiple.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, Walk, build, outcome, take

BREAKS = ('WORLD-3',)

EDITS = [
    ('plan.py',
     'k = -(-len(keys) // world)',
     'k = max(1, len(keys) // world)'),
]

sound, broken, Adapter = build(__file__, EDITS)


def scenario(dk):
    ranks = [dk.Loader(Rows(11), 4, seed=1, ranks="shared", rank=r, world=2) for r in range(2)]
    return sorted({x for loader in ranks for b in loader for x in b})


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
