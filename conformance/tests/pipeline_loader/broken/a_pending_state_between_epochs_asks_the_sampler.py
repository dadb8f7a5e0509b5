"""A state at the beginning of an epoch asks the sampler for its generators, also when a loaded state is pending and the
sampler has not been put to it yet.  Who meets it: a job that is interrupted again before its first batch, having
resumed after the end of an epoch, with a RandomSampler that has a generator.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome, take

BREAKS = ('STATE-4', 'RESUME-3')

EDITS = [
    ('loader.py',
     '        if self.feed is not None and mark is None:\n',
     '        if self.feed is not None and (mark is None or not c.given):\n'),
]

sound, broken, Adapter = build(__file__, EDITS)


class Rows:
    """Random access: sample i is i."""

    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return i


def make(pl):
    import torch
    order = torch.utils.data.RandomSampler(range(8), generator=torch.Generator().manual_seed(3))
    return pl.Loader(Rows(8), 4, sampler=order, seed=1)


def scenario(pl):
    first = make(pl)
    list(first)
    second = make(pl)
    second.load_state_dict(first.state_dict())
    third = make(pl)
    third.load_state_dict(second.state_dict())
    return list(third)


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
