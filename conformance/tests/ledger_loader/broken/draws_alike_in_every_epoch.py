"""The seeds of a map-style sample are of its place in the epoch alone: the sample at a place draws the same numbers in every
epoch.  Who meets it: augmentation over several epochs, in order most of all.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, Walk, build, outcome, take

BREAKS = ('VAMB-2',)

EDITS = [
    ('hand.py',
     'self.place.at("sample", job.epoch, first + done - 1)',
     'self.place.at("sample", first + done - 1)'),
]

sound, broken, Adapter = build(__file__, EDITS)


class Drawn(Rows):
    def __getitem__(self, i):
        import random
        return random.random()


def scenario(dk):
    loader = dk.Loader(Drawn(4), 2, seed=1)
    return len({x for _ in range(3) for b in loader for x in b})


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
