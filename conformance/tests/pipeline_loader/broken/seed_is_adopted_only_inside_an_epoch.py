"""A loader without a seed takes that of a state only if batches of its epoch were delivered. Who meets it: a run
without a seed of its own, saved before the first batch or between two epochs: the resumed run has another order.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome, take

BREAKS = ('RESUME-4', 'EPOCH-2')

EDITS = [
    ('loader.py',
     'self._owner, self._named, self.seed = _nobody, 0, own["seed"]',
     'self._owner, self._named, self.seed = _nobody, 0, own["seed"] if doc["given"] else self.seed'),
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
    first = pl.Loader(Rows(40), 4, shuffle=True)
    list(first)
    again = pl.Loader(Rows(40), 4, shuffle=True)
    again.load_state_dict(first.state_dict())
    return list(again) == list(first)



def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
