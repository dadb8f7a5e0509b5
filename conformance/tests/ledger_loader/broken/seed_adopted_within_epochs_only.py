"""A loader that was given no seed takes the state's seed only if the state is from within an epoch.  Who meets it: runs
without a seed of their own that save at the ends of epochs.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, Walk, build, outcome, take

BREAKS = ('EPOCH-2',)

EDITS = [
    ('loader.py',
     'self.seed, self.named = int(saved["seed"]), None',
     'self.seed, self.named = int(saved["seed"]) if state["batches"] else self.seed, None'),
]

sound, broken, Adapter = build(__file__, EDITS)


def scenario(dk):
    import torch
    torch.manual_seed(1)
    first = dk.Loader(Rows(12), 3, order="shuffle")
    list(first)
    again = dk.Loader(Rows(12), 3, order="shuffle")
    again.load_state_dict(first.state_dict())
    return list(again) == list(first)


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
