"""The epoch that the caller has named is still remembered after a load.  Who meets it: a loop that names its epochs
and rolls back to an earlier checkpoint within the process; after the rest of the loaded epoch the loader jumps to
the epoch that was named long before.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome, take

BREAKS = ('EPOCH-8', 'RESUME-6')

EDITS = [
    ('loader.py',
     'self._owner, self._named, self.seed = _nobody, 0, own["seed"]',
     'self._owner, self.seed = _nobody, own["seed"]'),
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
    loader = pl.Loader(Rows(8), 4, shuffle=True, seed=1)
    next(iter(loader))
    state = loader.state_dict()
    loader.name_epoch(5)
    list(loader)
    list(loader)
    loader.load_state_dict(state)
    return [list(loader), loader.state_dict()["epoch"], list(loader)]


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
