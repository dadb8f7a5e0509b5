"""A load of the very state that the loader would write now returns at once: workers and what they have read ahead can
stay. But a loaded position is gone on from, and a delivered one is broken off by the next iterator. Who meets it: a
program that saves, and on an error right afterwards loads this checkpoint into the loader it has and iterates anew:
the rest of the epoch is skipped.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome, take

BREAKS = ('RESUME-6', 'RESUME-7')

EDITS = [
    ('loader.py',
     '        saved, own = doc["plan"], self.plan()\n',
     '        if doc["seal"] == self.state_dict()["seal"]:\n            return  # it is there\n        saved, own = doc["plan"], self.plan()\n'),
]

sound, broken, Adapter = build(__file__, EDITS)


def scenario(pl):
    loader = pl.Loader(list(range(8)), 2)
    take(iter(loader), 2)
    loader.load_state_dict(loader.state_dict())
    return list(loader)


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
