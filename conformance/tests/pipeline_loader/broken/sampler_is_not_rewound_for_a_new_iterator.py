"""Only a load has the sampler put back to the beginning of its epoch, and not an iterator that opens the same epoch
again. Who meets it: a RandomSampler with a generator, an interrupt within the first batch, and a new iterator of the
same loader.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome, take

BREAKS = ('RESUME-7',)

EDITS = [
    ('loader.py',
     'c, restore=own.feed is not None, digest',
     'c, digest'),
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


import torch


def randoms(pl, n=8, **more):
    """A loader over a RandomSampler with a generator."""
    g = torch.Generator().manual_seed(3)
    return pl.Loader(Rows(n), 2, sampler=torch.utils.data.RandomSampler(range(n), generator=g), **more)


class Interrupted(Rows):
    armed = True

    def __getitem__(self, i):
        if self.armed:
            self.armed = False
            raise KeyboardInterrupt
        return i


def scenario(pl):
    loader = randoms(pl)
    loader.dataset = Interrupted(8)
    try:
        next(iter(loader))
    except KeyboardInterrupt:
        pass
    return list(loader) == list(randoms(pl))



def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
