"""The function that sets up workers is called for the first job of a worker alone, as torch calls worker_init_fn once
per process: the fresh copies of later epochs are not set up. Who meets it: persistent workers whose setup divides a
stream, from the second epoch on.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, Walk, build, outcome, take

BREAKS = ('WORKERS-2', 'BASIS-3')

EDITS = [
    ('hand.py',
     '        self.broken = set()\n        self.job, self.lanes = job, {}\n',
     '        self.broken = set()\n        if self.job is not None:  # this worker was set up by its first job\n            job = job._replace(setup=None)\n        self.job, self.lanes = job, {}\n'),
]

sound, broken, Adapter = build(__file__, EDITS)


class Divided:
    part = (0, 1)

    def __iter__(self):
        return iter(range(self.part[0], 12, self.part[1]))


def divide(dataset, lane, lanes):
    dataset.part = (lane, lanes)


def scenario(dk):
    loader = dk.Loader(Divided(), 2, seed=1, workers=2, persistent=True, setup=divide)
    try:
        return [list(loader) for _ in range(3)]
    finally:
        loader.close()


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
