"""A resume from a state of delivery out of order leaves out what is below the first missing batch, but makes the batches
ahead of it again.  Who meets it: in_order=False with one slow batch at the moment of saving.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, Walk, build, outcome, take

BREAKS = ('UNORD-1',)

EDITS = [
    ('desk.py',
     'return number < self.ledger.low or number in self.ledger.ahead',
     'return number < self.ledger.low'),
]

sound, broken, Adapter = build(__file__, EDITS)


class Slow(Rows):
    def __getitem__(self, i):
        import time
        if i == 0:
            time.sleep(0.6)
        return i


def scenario(dk):
    make = lambda: dk.Loader(Slow(12), 2, workers=2, kind="thread", in_order=False, seed=1)
    first = make()
    it = iter(first)
    found = take(it, 2)
    state = first.state_dict()
    first.close()
    again = make()
    again.load_state_dict(state)
    found += list(again)
    again.close()
    return sorted(x for b in found for x in b)


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
