"""The keys that roll over into the next epoch are put into a state as they are, so tuples come back as lists.  Who
meets it: tail "rollover" with a sampler whose keys are tuples, resumed at the beginning of an epoch (an
uninterrupted run is right).
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome, take

BREAKS = ('EPOCH-6',)

EDITS = [
    ('loader.py',
     'tuple(freeze(v) for v in self.deck.left)',
     'tuple(self.deck.left)'),
    ('deck.py',
     '[thaw(v) for v in cursor.carry], None',
     'list(cursor.carry), None'),
]

sound, broken, Adapter = build(__file__, EDITS)


class Grid:
    def __len__(self):
        return 6

    def __getitem__(self, key):
        return {(a, b): 10 * a + b for a in range(2) for b in range(3)}[key]


ORDER = [(a, b) for a in range(2) for b in range(3)]


def scenario(pl):
    first = pl.Loader(Grid(), 4, sampler=ORDER, seed=1, tail="rollover")
    list(first)
    again = pl.Loader(Grid(), 4, sampler=ORDER, seed=1, tail="rollover")
    again.load_state_dict(first.state_dict())
    return list(again)


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
