"""A shuffled stream counts the batches since its last snapshot, and does not set the count back when it takes one: from
the interval's end on it takes one in each block. Who meets it: shuffled streams whose state is dear, with a long
interval.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, Walk, build, outcome, take

BREAKS = ('COST-2',)

EDITS = [
    ('hand.py',
     '                self.given = self.batches = 0\n',
     '                self.given = 0\n'),
]

sound, broken, Adapter = build(__file__, EDITS)


CALLS = []


class Counted(Walk):
    def state_dict(self):
        CALLS.append(self.at)
        return super().state_dict()


def scenario(dk):
    CALLS.clear()
    loader = dk.Loader(Counted(200), 2, order="shuffle", mix=6, seed=1, snapshot_every=10)
    batches = len(list(loader))
    return f"{batches} batches, calls of state_dict within 14: {len(CALLS) <= 14}"


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
