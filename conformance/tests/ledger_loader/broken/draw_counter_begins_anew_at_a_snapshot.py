"""The seeds of a stream's samples come from a count of the samples that the lane has pulled.  A lane that is restored from a
snapshot begins to count at 0.  Plain streams replay from the beginning and are right.  Who meets it: augmentation in a
Stateful stream.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, Walk, build, outcome, take

BREAKS = ('VAMB-1',)

EDITS = [
    ('hand.py',
     'self.ended, self.mix = False, None',
     'self.ended, self.mix, self.pulled = False, None, 0'),
    ('hand.py',
     'self.place.at("stream", self.job.epoch, self.lane, ordinal, len(rows))',
     'self.place.at("stream", self.job.epoch, self.lane, self.pulled)\n            self.pulled += 1'),
]

sound, broken, Adapter = build(__file__, EDITS)


class Noisy(Walk):
    def __iter__(self):
        import random
        for i in super().__iter__():
            yield i, random.random()


def scenario(dk):
    first = dk.Loader(Noisy(10), 2, seed=1)
    it = iter(first)
    take(it, 2)
    again = dk.Loader(Noisy(10), 2, seed=1)
    again.load_state_dict(first.state_dict())
    return list(again) == list(it)


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
