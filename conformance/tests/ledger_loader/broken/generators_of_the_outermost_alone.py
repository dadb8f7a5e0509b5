"""The generators of a sampler are looked for in the outermost object alone, and not in the sampler within a batch sampler.
Within an epoch the digest would tell; a state between two epochs has nothing to tell it.  Who meets it: users of
BatchSampler(RandomSampler(data, generator=g)) who save at the ends of epochs.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, Walk, build, outcome, take

BREAKS = ('EPOCH-2',)

EDITS = [
    ('plan.py',
     'for depth, s in enumerate(chain_of(sampler)):',
     'for depth, s in enumerate(chain_of(sampler)[:1]):'),
]

sound, broken, Adapter = build(__file__, EDITS)


def scenario(dk):
    import torch
    from torch.utils.data import BatchSampler, RandomSampler

    def make():
        inner = RandomSampler(range(9), generator=torch.Generator().manual_seed(3))
        return dk.Loader(Rows(9), batch_sampler=BatchSampler(inner, 2, False), seed=1)

    first = make()
    list(first)
    state = first.state_dict()
    again = make()
    again.load_state_dict(state)
    return list(again) == list(first)


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
