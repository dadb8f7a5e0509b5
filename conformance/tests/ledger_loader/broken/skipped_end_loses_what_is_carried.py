"""A loader that skips the empty rest of an epoch forgets what that epoch carries on.  Who meets it: trainers that save on
the last step, with the tail "rollover" and skip_empty_rest.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, Walk, build, outcome, take

BREAKS = ('EPOCH-6',)

EDITS = [
    ('loader.py',
     '            self.loader.advance(leftover)',
     '            self.loader.advance(())'),
]

sound, broken, Adapter = build(__file__, EDITS)


def scenario(dk):
    make = lambda: dk.Loader(Rows(10), 4, seed=1, tail="rollover", skip_empty_rest=True)
    first = make()
    take(iter(first), 2)
    again = make()
    again.load_state_dict(first.state_dict())
    return list(again)


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
