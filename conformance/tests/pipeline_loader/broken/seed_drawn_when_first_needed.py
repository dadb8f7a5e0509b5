"""Where no seed is given, one is drawn when it is first needed, so that loaders which load a state draw none. Taking a
state needs it. Who meets it: a program without a seed that saves before the first batch: the global stream of torch
goes on by one number at the save.
"""
import os
import sys

import torch

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome, take

BREAKS = ('BASIS-5',)

EDITS = [
    ('loader.py',
     '        self.seed = int(torch.empty((), dtype=torch.int64).random_()) if seed is None else int(seed)\n',
     '        self._seed = None if seed is None else int(seed)\n'),
    ('loader.py',
     '    def lane_count(self, hosts):',
     '    @property\n    def seed(self):\n        if self._seed is None:\n            self._seed = int(torch.empty((), dtype=torch.int64).random_())\n        return self._seed\n\n    @seed.setter\n    def seed(self, value):\n        self._seed = value\n\n    def lane_count(self, hosts):'),
]

sound, broken, Adapter = build(__file__, EDITS)


def scenario(pl):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(4)
        loader = pl.Loader(list(range(8)), 2, shuffle=True)
        before = torch.get_rng_state()
        loader.state_dict()
        return bool((torch.get_rng_state() == before).all())


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
