"""A shuffled stream that is continued from a snapshot counts its pulls from 0 on again, so the samples of later blocks
draw the values of the first ones. Who meets it: shuffled streams that augment samples, resumed after the first
interval.
"""
import random
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, Walk, build, outcome, take

BREAKS = ('VOWN-1', 'VAMB-1')

EDITS = [
    ('hand.py',
     '        self.captured, (self.block, self.pulls), given, faults = saved or (None, (0, 0), 0, ())\n',
     '        self.captured, (self.block, _), given, faults = saved or (None, (0, 0), 0, ())\n        self.pulls = 0\n'),
]

sound, broken, Adapter = build(__file__, EDITS)


class Noisy(Walk):
    def __iter__(self):
        for i in super().__iter__():
            yield i, round(random.random(), 6)


def scenario(dk):
    def loader():
        return dk.Loader(Noisy(40), 4, order="shuffle", mix=6, seed=1)

    first, again = loader(), loader()
    take(iter(first), 6)
    again.load_state_dict(first.state_dict())
    return list(again)


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
