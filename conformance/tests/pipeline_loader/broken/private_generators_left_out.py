"""Only public attributes of a sampler are looked through for random generators. Who meets it: users of a sampler that
keeps its generator in an attribute such as _rng, when a state is taken between two epochs: a new process begins the
next epoch with the generator of the first one.
"""
import os
import random
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome, take

BREAKS = ('EPOCH-2',)

EDITS = [
    ('deck.py',
     '                if _get(value) is not None:',
     '                if not name.startswith("_") and _get(value) is not None:'),
]

sound, broken, Adapter = build(__file__, EDITS)


class Mixed:
    """Draws its order from a generator of its own."""

    def __init__(self, n, seed):
        self.n, self._rng = n, random.Random(seed)

    def __len__(self):
        return self.n

    def __iter__(self):
        return iter(self._rng.sample(range(self.n), self.n))


def scenario(pl):
    first = pl.Loader(list(range(8)), 2, sampler=Mixed(8, 5))
    list(first)
    again = pl.Loader(list(range(8)), 2, sampler=Mixed(8, 5))
    again.load_state_dict(first.state_dict())
    return list(again)


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
