"""A load forgets the named epoch before it checks the state: a refused one changes what comes next. Who meets it: a loop
that names its epochs, tries an old checkpoint within an epoch, and goes on when it is refused.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, Walk, build, outcome, take

BREAKS = ('EPOCH-8', 'REFUSE-4')

EDITS = [
    ('loader.py',
     '        ledgers.check(state)\n        own, saved = self.plan(), state["plan"]\n',
     '        self.named = None\n        ledgers.check(state)\n        own, saved = self.plan(), state["plan"]\n'),
    ('loader.py',
     '        self.seed, self.named = int(saved["seed"]), None\n',
     '        self.seed = int(saved["seed"])\n'),
]

sound, broken, Adapter = build(__file__, EDITS)


def scenario(dk):
    loader = dk.Loader(Rows(8), 2, order="shuffle", seed=1)
    iterator = iter(loader)
    take(iterator, 2)
    loader.set_epoch(5)
    try:
        loader.load_state_dict(dk.Loader(Rows(8), 4, order="shuffle", seed=1).state_dict())
    except dk.StateRefused:
        pass
    return list(iterator), loader.state_dict()["epoch"], list(loader)


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
