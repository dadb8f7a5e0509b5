"""A load does not forget the epoch that was named before it. Who meets it: a loop that names its epochs and goes back to
an earlier checkpoint in the same process: after the rest of the loaded epoch comes the one that was named before the
load, and those between are skipped.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome, take

BREAKS = ('EPOCH-8', 'RESUME-6')

EDITS = [
    ('loader.py',
     '        self._owner, self._named, self.seed = _nobody, 0, own["seed"]',
     '        self._owner, self.seed = _nobody, own["seed"]'),
]

sound, broken, Adapter = build(__file__, EDITS)


def scenario(pl):
    loader = pl.Loader(list(range(8)), 2, shuffle=True, seed=1)
    take(iter(loader), 1)
    state = loader.state_dict()
    loader.name_epoch(5)
    list(loader)
    loader.load_state_dict(state)
    list(loader)
    return loader.state_dict()["epoch"], list(loader)


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
