"""The lanes of a loaded state hold for its epoch only: the next epoch has as many lanes as this loader has workers.  Who
meets it: a stream is resumed on a machine with other workers, and trained for more than one epoch.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, Walk, build, outcome, take

BREAKS = ('ELASTIC-1',)

EDITS = [
    ('loader.py',
     '        self.named = None\n        self.ledger = self.fresh(epoch, carried)\n',
     '        self.named, self.lanes = None, self.given_lanes or max(1, self.workers)\n        self.ledger = self.fresh(epoch, carried)\n'),
]

sound, broken, Adapter = build(__file__, EDITS)


class Shared:
    """A stream that is divided between lanes."""

    def __init__(self, n, info):
        self.n, self.info = n, info

    def __iter__(self):
        lane, lanes = self.info() or (0, 1)
        return iter(range(lane, self.n, lanes))


def scenario(dk):
    saver = dk.Loader(Shared(12, dk.lane_info), 2, workers=2, kind="thread")
    it = iter(saver)
    next(it)
    state = saver.state_dict()
    rest, after = list(it), list(saver)
    saver.close()
    again = dk.Loader(Shared(12, dk.lane_info), 2)
    again.load_state_dict(state)
    return [list(again), list(again)] == [rest, after]


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
