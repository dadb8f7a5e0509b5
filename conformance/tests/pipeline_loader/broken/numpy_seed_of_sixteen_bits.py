"""The seed of NumPy's global stream is cut to 16 bits by a mask that lacks four digits. Who meets it: an epoch of a few
hundred batches whose samples draw from numpy.random: some of them draw the same numbers.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome, take

BREAKS = ('VAMB-2',)

EDITS = [
    ('place.py',
     'numpy.random.seed((seed >> 128) & (2**32 - 1))',
     'numpy.random.seed((seed >> 128) & 0xFFFF)'),
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


import numpy


class Drawing(Rows):
    def __getitem__(self, i):
        return numpy.random.random(), numpy.random.random()


def scenario(pl):
    seen = [x for b in pl.Loader(Drawing(1000), 1, seed=5) for x in b]
    return len(seen), len(set(seen))



def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
