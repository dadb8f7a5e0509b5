"""Where an empty rest is skipped after a load, the samples that the epoch left over are not handed to the next one. Who
meets it: tail "rollover" with skip_empty_rest, saved on the last step of an epoch.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, Walk, build, outcome, take

BREAKS = ('EPOCH-6', 'EPOCH-3', 'EPOCH-7')

EDITS = [
    ('loader.py',
     '            leftover = self.ledger.book.leftover\n            self.stop()\n            self.loader.advance(leftover)\n',
     '            self.stop()\n            self.loader.advance(())\n'),
]

sound, broken, Adapter = build(__file__, EDITS)


def scenario(dk):
    first, again = (dk.Loader(Rows(10), 4, tail="rollover", seed=1, skip_empty_rest=True) for _ in range(2))
    take(iter(first), 2)
    again.load_state_dict(first.state_dict())
    return list(again), list(again)


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
