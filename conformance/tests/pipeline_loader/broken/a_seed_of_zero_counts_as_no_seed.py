"""Fields of the plan are compared only where both are given, and a seed of 0 is taken for one that is not.  Who meets
it: a run with seed 0 whose seed is changed at the restart; the position of the old order is continued in the new.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome, take

BREAKS = ('REFUSE-3',)

EDITS = [
    ('loader.py',
     'for k in own if saved[k] != own[k]}',
     'for k in own if saved[k] and own[k] and saved[k] != own[k]}'),
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
    first = pl.Loader(Rows(8), 2, shuffle=True, seed=0)
    it = iter(first)
    before = take(it, 2)
    again = pl.Loader(Rows(8), 2, shuffle=True, seed=7)
    try:
        again.load_state_dict(first.state_dict())
    except pl.PlanRefused:
        return "refused"
    return sorted(x for b in before + list(again) for x in b)


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
