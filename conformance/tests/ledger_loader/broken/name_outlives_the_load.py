"""A load keeps the name that was given to the next epoch before it.  Who meets it: a loop that names each epoch, and rolls
back to a state of an earlier one after a loss spike.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, Walk, build, outcome, take

BREAKS = ('EPOCH-8',)

EDITS = [
    ('loader.py',
     'self.seed, self.named = int(saved["seed"]), None',
     'self.seed = int(saved["seed"])'),
]

sound, broken, Adapter = build(__file__, EDITS)


def scenario(dk):
    loader = dk.Loader(Rows(8), 2, order="shuffle", seed=1)
    it = iter(loader)
    next(it)
    state = loader.state_dict()
    loader.set_epoch(5)
    loader.load_state_dict(state)
    list(loader)
    return loader.state_dict()["epoch"]


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
