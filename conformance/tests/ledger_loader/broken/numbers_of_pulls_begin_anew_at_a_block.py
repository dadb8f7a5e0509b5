"""The state of a shuffled stream has the number of its block, but counts the pulls before it as none: after a resume beyond
the first block its samples draw other numbers.  Who meets it: augmentation in a Stateful stream that is shuffled.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, Walk, build, outcome, take

BREAKS = ('VAMB-1',)

EDITS = [
    ('hand.py',
     'self.captured, self.origin, self.faults = captured, (self.block, self.pulls), []',
     'self.captured, self.origin, self.faults = captured, (self.block, 0), []'),
]

sound, broken, Adapter = build(__file__, EDITS)


class Noisy(Walk):
    def __iter__(self):
        import random
        for i in super().__iter__():
            yield i, random.random()


def scenario(dk):
    make = lambda: dk.Loader(Noisy(24), 2, order="shuffle", mix=4, seed=1)
    first = make()
    it = iter(first)
    take(it, 5)
    again = make()
    again.load_state_dict(first.state_dict())
    return list(again) == list(it)


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
