"""The loader keeps the order that it has computed, and looks only at the epoch whether it still holds.  Who meets it: a
loader without a seed of its own that was used, and then loads a state of another seed in the same epoch (a
rollback to another run, a second trial in one process).
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome, take

BREAKS = ('RESUME-6',)

EDITS = [
    ('loader.py',
     '        self._pool = Pool()\n',
     '        self._pool, self._deck = Pool(), None\n'),
    ('loader.py',
     '(self.deck is None or self.deck.epoch != c.epoch):',
     '(own._deck is None or own._deck.epoch != c.epoch):'),
    ('loader.py',
     '            self.deck = deal(own, c, c.mark, c.restore)',
     '            own._deck = self.deck = deal(own, c, c.mark, c.restore)'),
    ('loader.py',
     '        hosts = own._pool.get(',
     '        self.deck = own._deck\n        hosts = own._pool.get('),
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


def scenario(pl):
    import torch
    first = pl.Loader(Rows(8), 2, shuffle=True, seed=3)
    next(iter(first))
    kept = torch.get_rng_state()
    torch.manual_seed(0)
    used = pl.Loader(Rows(8), 2, shuffle=True)
    torch.set_rng_state(kept)
    next(iter(used))
    used.load_state_dict(first.state_dict())
    return list(used)


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
