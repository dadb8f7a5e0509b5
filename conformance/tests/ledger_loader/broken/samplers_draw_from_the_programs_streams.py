"""The global streams are not seeded before a sampler is drawn, only kept: a sampler without a generator of its own draws
from wherever the program's streams stand.  Who meets it: RandomSampler(data) without a generator, saved between epochs.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, Walk, build, outcome, take

BREAKS = ('EPOCH-2',)

EDITS = [
    ('plan.py',
     '        seeds.seed_streams(seeds.words(root, "sampler", epoch))\n',
     ''),
]

sound, broken, Adapter = build(__file__, EDITS)


def scenario(dk):
    import torch
    from torch.utils.data import RandomSampler
    torch.manual_seed(1)
    first = dk.Loader(Rows(12), 3, sampler=RandomSampler(range(12)), seed=1)
    list(first)
    state = first.state_dict()
    after = list(first)
    torch.manual_seed(2)
    again = dk.Loader(Rows(12), 3, sampler=RandomSampler(range(12)), seed=1)
    again.load_state_dict(state)
    return list(again) == after


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
