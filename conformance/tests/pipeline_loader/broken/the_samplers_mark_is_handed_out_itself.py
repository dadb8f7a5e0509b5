"""A state holds the loader's own record of the user's sampler (some kilobytes), instead of a copy, to make saving
cheap.  Who meets it: a program that rewrites or empties a state which it has stored, and saves again in the
same epoch; the loader's next states are spoiled, too.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome, take

BREAKS = ('STATE-2',)

EDITS = [
    ('loader.py',
     '        doc = copy(doc)\n        doc["seal"]',
     '        doc = {**copy({k: v for k, v in doc.items() if k != "mark"}), "mark": mark}  # it is large\n        doc["seal"]'),
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
    order = torch.utils.data.RandomSampler(range(10), generator=torch.Generator().manual_seed(3))
    return pl.Loader(Rows(10), 2, sampler=order, seed=1)


def scenario(pl):
    first = make(pl)
    it = iter(first)
    next(it)
    state = first.state_dict()
    state["mark"]["gens"].clear()  # the caller has flattened and moved it
    next(it)
    again = make(pl)
    again.load_state_dict(first.state_dict())
    return list(again)


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
