"""Out of order, the end that is found of some lane is booked for the lane whose turn it is, which is the same in order
only. Who meets it: streams of unequal length delivered out of order, when a short one ends while a slow one is
awaited.
"""
import time
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, Walk, build, outcome, take

BREAKS = ('UNORD-1',)

EDITS = [
    ('desk.py',
     '            self.ledger.stands[reply.lane].end()\n            self.ready[reply.lane].clear()\n\n',
     '            self.ledger.stands[lane].end()\n            self.ready[lane].clear()\n\n'),
]

sound, broken, Adapter = build(__file__, EDITS)


class Unequal:
    """A long share that begins slowly, and a short one."""

    def __init__(self, info):
        self.info = info

    def __iter__(self):
        if self.info()[0] == 0:
            time.sleep(0.3)
            yield from range(12)
        else:
            yield from range(20, 24)


def scenario(dk):
    loader = dk.Loader(Unequal(dk.lane_info), 2, seed=1, workers=2, kind="thread", in_order=False)
    try:
        return sorted(list(loader))
    finally:
        loader.close()


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
