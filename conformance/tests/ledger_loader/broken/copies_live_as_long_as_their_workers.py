"""A lane's copy of the dataset is unpickled once for each worker, and used again in the next epoch: with persistent workers
it goes on from its own past, with others it begins fresh.  Who meets it: datasets that keep something from pass to
pass, and persistent=True.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, Walk, build, outcome, take

BREAKS = ('WORKERS-2',)

EDITS = [
    ('hand.py',
     '        self.job, self.lanes = job, {}\n',
     '        self.job, old, self.lanes = job, self.lanes, {}\n'),
    ('hand.py',
     'self.lanes[lane] = Lane(job, lane, pickle.loads(job.dataset))',
     'self.lanes[lane] = Lane(job, lane, old[lane].dataset if lane in old else pickle.loads(job.dataset))'),
]

sound, broken, Adapter = build(__file__, EDITS)


class Counts:
    passes = 0

    def __iter__(self):
        self.passes += 1
        return iter([(self.passes, i) for i in range(4)])


def scenario(dk):
    def run(persistent):
        loader = dk.Loader(Counts(), 2, workers=1, kind="thread", persistent=persistent)
        found = [list(loader), list(loader)]
        loader.close()
        return found

    return run(True) == run(False)


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
