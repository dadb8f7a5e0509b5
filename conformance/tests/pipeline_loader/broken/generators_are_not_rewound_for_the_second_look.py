"""A sampler that was loaded at the end of its pass gives nothing at first and is iterated once more; what its
generator gave in the empty pass is not taken back.  Who meets it: a sampler with a state and a generator, resumed
after the end of an epoch; the next epoch has an order of its own.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome, take

BREAKS = ('EPOCH-2',)

EDITS = [
    ('deck.py',
     '            with at(place, "scoped"):\n                self._wind(mark)\n                items = ',
     '            with at(place, "scoped"):\n                items = '),
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


class Order:
    """Permutes with its generator in each pass, and begins the first pass where it was loaded."""

    def __init__(self):
        import torch
        self.generator, self.pos, self.start = torch.Generator().manual_seed(5), 0, 0

    def __len__(self):
        return 8

    def __iter__(self):
        import torch
        order = torch.randperm(8, generator=self.generator).tolist()
        start, self.start = self.start, 0
        for self.pos in range(start + 1, 9):
            yield order[self.pos - 1]

    def state_dict(self):
        return {"pos": self.pos}

    def load_state_dict(self, state):
        self.pos = self.start = state["pos"]


def scenario(pl):
    first = pl.Loader(Rows(8), 4, sampler=Order(), seed=1)
    list(first)
    again = pl.Loader(Rows(8), 4, sampler=Order(), seed=1)
    again.load_state_dict(first.state_dict())
    return list(again)


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
