"""A state that is asked for again at the same position is a shallow copy of the one before. Who meets it: checkpoint
libraries that rewrite the states they are given in place, in a program that saves twice at one step (the last one and
the best one).
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, Walk, build, outcome, take

BREAKS = ('STATE-2',)

EDITS = [
    ('loader.py',
     '        ledger = self.ledger\n        start = ledger.start\n',
     '        ledger = self.ledger\n        kept = getattr(ledger, "kept", None)\n        if kept is not None and ledger.batches and kept["batches"] == ledger.batches:\n            return dict(kept)\n        start = ledger.start\n'),
    ('loader.py',
     '        return ledgers.write(ledger, saved, self.share(), start, digest)\n',
     '        ledger.kept = ledgers.write(ledger, saved, self.share(), start, digest)\n        return dict(ledger.kept)\n'),
]

sound, broken, Adapter = build(__file__, EDITS)


def scenario(dk):
    first, again = (dk.Loader(Rows(13), 4, seed=1) for _ in range(2))
    take(iter(first), 2)
    state = first.state_dict()
    for key in list(state["plan"]):
        state["plan"][f"loader.plan.{key}"] = state["plan"].pop(key)
    again.load_state_dict(first.state_dict())
    return list(again)


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
