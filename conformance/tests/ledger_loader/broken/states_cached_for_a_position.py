"""The last state is kept, and handed out again as long as the position is the same: what the caller changed in the first one
shows in the second.  Who meets it: checkpoint libraries that rewrite what they are given, and save twice at a step.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, Walk, build, outcome, take

BREAKS = ('STATE-2',)

EDITS = [
    ('loader.py',
     '        ledger = self.ledger\n        start = ledger.start\n',
     '        ledger = self.ledger\n        if getattr(ledger, "cached", (None,))[0] == ledger.batches:\n            return ledger.cached[1]\n        start = ledger.start\n'),
    ('loader.py',
     '        return ledgers.write(ledger, saved, self.share(), start, digest)\n',
     '        ledger.cached = ledger.batches, ledgers.write(ledger, saved, self.share(), start, digest)\n        return ledger.cached[1]\n'),
]

sound, broken, Adapter = build(__file__, EDITS)


def scenario(dk):
    loader = dk.Loader(Rows(8), 2, seed=1)
    it = iter(loader)
    next(it)
    loader.state_dict()["batches"] = 3
    again = dk.Loader(Rows(8), 2, seed=1)
    again.load_state_dict(loader.state_dict())
    return list(again)


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
