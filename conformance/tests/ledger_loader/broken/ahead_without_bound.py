"""Out of order, tickets are dealt however far delivery is ahead of the slowest batch: the list of batches ahead, which is
part of each state, grows as long as that batch hangs.  Who meets it: one file on a slow disk, in_order=False.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, Walk, build, outcome, take

BREAKS = ('COST-1',)

EDITS = [
    ('desk.py',
     'bound = self.ledger.low + (self.window if self.in_order else 4 * self.window)',
     'bound = self.ledger.low + self.window if self.in_order else len(self.book)'),
]

sound, broken, Adapter = build(__file__, EDITS)


class Hangs(Rows):
    def __getitem__(self, i):
        import time
        if i == 0:
            time.sleep(1.5)
        return i


def scenario(dk):
    loader = dk.Loader(Hangs(80), 1, workers=2, kind="thread", in_order=False, seed=1, prefetch=1)
    most = 0
    for _ in loader:
        most = max(most, len(loader.state_dict()["ahead"]))
    loader.close()
    return "at most 8" if most <= 8 else "more"


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
