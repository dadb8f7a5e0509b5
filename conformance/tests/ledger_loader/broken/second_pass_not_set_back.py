"""If a sampler that loaded the state of an end gives nothing, it is iterated once more, but its generators stay where
the empty pass left them. Who meets it: Stateful samplers with a generator that shuffle when they are iterated, and
jobs that save at the end of an epoch.
"""
import torch
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, Walk, build, outcome, take

BREAKS = ('EPOCH-2',)

EDITS = [
    ('plan.py',
     '            found = values(begin(False))\n',
     '            found = values(iter(sampler))\n'),
]

sound, broken, Adapter = build(__file__, EDITS)


class Shuffled:
    """Keeps its place, and a loaded one for the next pass."""

    def __init__(self):
        self.generator, self.at, self.loaded = torch.Generator().manual_seed(4), 0, 0

    def __iter__(self):
        order = torch.randperm(8, generator=self.generator).tolist()
        self.at, self.loaded = self.loaded, 0
        while self.at < 8:
            self.at += 1
            yield order[self.at - 1]

    def state_dict(self):
        return {"at": self.at}

    def load_state_dict(self, state):
        self.loaded = state["at"]


def scenario(dk):
    first, again = (dk.Loader(Rows(8), 2, sampler=Shuffled(), seed=1) for _ in range(2))
    list(first)
    again.load_state_dict(first.state_dict())
    return list(again), list(again)


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
