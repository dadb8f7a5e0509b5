"""The sampler's generators and states are restored only if batches of the epoch were delivered, because an epoch begins anew anyway.
Who meets it: states at the end of an epoch, and samplers with a generator of their own; within an epoch all is right.
"""
import os
import sys
import torch

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, build, on, outcome, take

BREAKS = ('EPOCH-2', 'RESUME-6')

EDITS = [
    ('loader.py',
     '            if loader._loaded and point.sampler is not None:\n',
     '            if loader._loaded and point.sampler is not None and point.batches:\n'),
]

sound, broken, Adapter = build(__file__, EDITS)


def scenario(cz):
    def make():
        sampler = torch.utils.data.RandomSampler(range(10), generator=torch.Generator().manual_seed(3))
        return cz.Loader(Rows(10), 4, sampler=sampler, seed=1, collate_fn=list)

    first = make()
    list(first)
    state = first.state_dict()
    second = list(first)
    again = make()
    again.load_state_dict(state)
    return list(again) == second


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
