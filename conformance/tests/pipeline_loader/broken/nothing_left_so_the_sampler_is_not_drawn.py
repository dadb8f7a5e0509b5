"""A resume after the last batch of an epoch saves itself the drawing of the sampler, because nothing is left of its
epoch; so the sampler's generator stays at its beginning.  Who meets it: a trainer that saves on the last step,
with a RandomSampler that has a generator; the next epoch has the order of the first.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome, take

BREAKS = ('EPOCH-3',)

EDITS = [
    ('deck.py',
     '    carry, digest = [thaw',
     '    if loader.feed is not None and restore and cursor.given and cursor.rows == cursor.length:\n        deck = Deck(cursor.epoch, [], loader.batch_size, loader.tail, loader.batched)  # nothing is left of it\n        deck.mark = cursor.digest\n        return deck\n    carry, digest = [thaw'),
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
    return pl.Loader(Rows(10), 4, sampler=order, seed=1)


def scenario(pl):
    first = make(pl)
    take(iter(first), 3)
    again = make(pl)
    again.load_state_dict(first.state_dict())
    return [list(again), list(again)]


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
