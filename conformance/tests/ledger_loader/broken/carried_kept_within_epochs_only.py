"""The carried indices are written into a state only if batches of the epoch were delivered: a state between two epochs is
taken to need the epoch's number alone.  Who meets it: tail "rollover", and saving at the ends of epochs.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, Walk, build, outcome, take

BREAKS = ('EPOCH-6',)

EDITS = [
    ('ledger.py',
     '"carried": None if ledger.carried is None else',
     '"carried": None if ledger.carried is None or not ledger.batches else'),
]

sound, broken, Adapter = build(__file__, EDITS)


def scenario(dk):
    make = lambda: dk.Loader(Rows(10), 4, seed=1, tail="rollover")
    first = make()
    list(first)
    again = make()
    again.load_state_dict(first.state_dict())
    return list(again)


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
