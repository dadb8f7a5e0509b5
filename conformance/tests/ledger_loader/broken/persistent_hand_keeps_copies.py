"""A worker keeps the copy of the dataset that a lane has, and uses it again in the next epoch if the dataset's pickle is
the same. Who meets it: persistent workers with a stream that remembers something of its passes, the more so after a
resume.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, Walk, build, outcome, take

BREAKS = ('WORKERS-2', 'EPOCH-1')

EDITS = [
    ('hand.py',
     '        self.remote, self.job, self.lanes, self.broken = remote, None, {}, set()\n',
     "        self.remote, self.job, self.lanes, self.broken = remote, None, {}, set()\n        self.copies = None, {}  # a dataset's pickle, and the lanes' copies of it\n"),
    ('hand.py',
     '        for lane, (stand, replays) in job.entries.items():\n            self.lanes[lane] = Lane(job, lane, pickle.loads(job.dataset))\n',
     '        if self.copies[0] != job.dataset:\n            self.copies = job.dataset, {}\n        for lane, (stand, replays) in job.entries.items():\n            if lane not in self.copies[1]:\n                self.copies[1][lane] = pickle.loads(job.dataset)\n            self.lanes[lane] = Lane(job, lane, self.copies[1][lane])\n'),
]

sound, broken, Adapter = build(__file__, EDITS)


class Passes:
    """A stream that goes through its rows in another order in each pass of one object."""

    passes = 0

    def __iter__(self):
        self.passes += 1
        return iter([(i * self.passes) % 13 for i in range(1, 13)])


def scenario(dk):
    loader = dk.Loader(Passes(), 4, seed=1, workers=1, persistent=True)
    try:
        return [list(loader) for _ in range(3)]
    finally:
        loader.close()


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
