"""A resume checks that a sampler gives enough batches, but not that they are those that were delivered.  Who meets it: a
subset that was changed between two starts, in the middle of an epoch.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, Walk, build, outcome, take

BREAKS = ('REFUSE-3',)

EDITS = [
    ('loader.py',
     'if reach and (len(book) < reach or book.digest(reach) != ledger.digest):',
     'if reach and len(book) < reach:'),
]

sound, broken, Adapter = build(__file__, EDITS)


class Picked:
    def __init__(self, keys):
        self.keys = keys

    def __iter__(self):
        return iter(self.keys)


def scenario(dk):
    first = dk.Loader(Rows(8), 2, sampler=Picked(range(8)), seed=1)
    before = take(iter(first), 2)
    again = dk.Loader(Rows(8), 2, sampler=Picked(range(7, -1, -1)), seed=1)
    try:
        again.load_state_dict(first.state_dict())
        return sorted(x for b in before + list(again) for x in b)
    except (dk.StateRefused, dk.ReplayMismatch):
        return "refused"


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
