"""A loader without a seed of its own takes over the state's seed before the rest of the plan is compared.  Who meets
it: a program that catches the refusal (of another batch size, say) and starts over; it has the order of the state
that it did not load.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome, take

BREAKS = ('REFUSE-4',)

EDITS = [
    ('loader.py',
     '            own["seed"] = saved["seed"]\n',
     '            own["seed"] = self.seed = saved["seed"]\n'),
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
    other = pl.Loader(Rows(8), 4, shuffle=True, seed=99).state_dict()
    kept = torch.get_rng_state()
    torch.manual_seed(5)
    loader = pl.Loader(Rows(8), 2, shuffle=True)
    torch.set_rng_state(kept)
    try:
        loader.load_state_dict(other)
    except pl.PlanRefused:
        pass
    return list(loader)


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
