"""A lane that is restored from a snapshot is not set up: its state is taken to hold what the set-up did.  Who meets it:
Stateful streams that are divided by the function that sets them up.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, Walk, build, outcome, take

BREAKS = ('RESUME-1',)

EDITS = [
    ('hand.py',
     'if job.setup is not None:',
     'if job.setup is not None and stand.snapshot is None:'),
]

sound, broken, Adapter = build(__file__, EDITS)


class Part(Walk):
    part = (0, 1)

    def __iter__(self):
        return (i for i in super().__iter__() if i % self.part[1] == self.part[0])


def divide(dataset, lane, lanes):
    dataset.part = (lane, lanes)


def scenario(dk):
    make = lambda: dk.Loader(Part(12), 2, seed=1, lanes=2, setup=divide)
    first = make()
    it = iter(first)
    take(it, 2)
    again = make()
    again.load_state_dict(first.state_dict())
    return list(again) == list(it)


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
