"""A load first makes the live iterator stale, and then compares the plans. Who meets it: a program that tries a state
while it iterates, catches the refusal, and goes on with the iterator that it has.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome, take

BREAKS = ('REFUSE-4',)

EDITS = [
    ('loader.py',
     '        doc = self._read(state)\n        saved, own',
     '        self._owner = _nobody\n        doc = self._read(state)\n        saved, own'),
    ('loader.py',
     'self._owner, self._named, self.seed = _nobody, 0, own',
     'self._named, self.seed = 0, own'),
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
    loader = pl.Loader(Rows(12), 2)
    it = iter(loader)
    take(it, 2)
    try:
        loader.load_state_dict({})
    except pl.StateRefused:
        pass
    return list(it)



def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
