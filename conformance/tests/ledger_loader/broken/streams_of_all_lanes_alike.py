"""The seeds of a stream's samples do not name the lane: the n-th samples of all lanes draw the same numbers.  Who meets it:
augmentation in streams with several workers.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, Walk, build, outcome, take

BREAKS = ('VAMB-2',)

EDITS = [
    ('hand.py',
     'self.place.at("stream", self.job.epoch, self.lane, ordinal, len(rows))',
     'self.place.at("stream", self.job.epoch, ordinal, len(rows))'),
]

sound, broken, Adapter = build(__file__, EDITS)


class Drawn:
    def __init__(self, info):
        self.info = info

    def __iter__(self):
        import random
        for i in range(4):
            yield random.random()


def scenario(dk):
    rows = [x for b in dk.Loader(Drawn(dk.lane_info), 2, lanes=2, seed=1) for x in b]
    return len(set(rows))


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
