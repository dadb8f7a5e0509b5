"""A state of the very beginning is not loaded into the sampler, as a fresh sampler is there anyway. Who meets it: a
program that saves before the first batch, runs, and goes back to that state in the same loader, with a RandomSampler
that has a generator: it gets another order.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome, take

BREAKS = ('RESUME-6',)

EDITS = [
    ('loader.py',
     'doc["lanes"], doc["mark"] is not None)',
     'doc["lanes"],\n                              doc["mark"] is not None and bool(doc["epoch"] or doc["given"]))'),
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


def scenario(pl):
    loader = randoms(pl)
    state = loader.state_dict()
    first = list(loader)
    loader.load_state_dict(state)
    return list(loader) == first



def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
