"""Whether an epoch has begun is asked of this process and not of the position: a name that is given after a load in the
middle of an epoch drops the rest of it.  Who meets it: loops that load, and name the epoch after.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, Walk, build, outcome, take

BREAKS = ('EPOCH-8',)

EDITS = [
    ('loader.py',
     '        elif self.ledger.batches:\n            self.named',
     '        elif self.ledger.opened:\n            self.named'),
]

sound, broken, Adapter = build(__file__, EDITS)


def scenario(dk):
    loader = dk.Loader(Rows(8), 2, order="shuffle", seed=1)
    next(iter(loader))
    again = dk.Loader(Rows(8), 2, order="shuffle", seed=1)
    again.load_state_dict(loader.state_dict())
    again.set_epoch(1)
    return len(list(again)), len(list(again))


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
