"""The loader does not ask of which job a reply is, because the workers skip the messages of an older job: replies that
were on their way when an epoch was broken off are taken for the new epoch's. Who meets it: persistent workers and a
limit on the steps of an epoch, or a rollback by a load in the same process.
"""
import time
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, Walk, build, outcome, take

BREAKS = ('EPOCH-5', 'RESUME-6', 'RESUME-7')

EDITS = [
    ('desk.py',
     '        """A reply came; a fault is raised."""\n        if reply.job != self.job_id:\n            return\n',
     '        """A reply came; a fault is raised."""\n'),
]

sound, broken, Adapter = build(__file__, EDITS)


def scenario(dk):
    loader = dk.Loader(Rows(24), 2, order="shuffle", seed=3, workers=2, persistent=True, prefetch=3)
    try:
        found = []
        for _ in range(3):
            iterator = iter(loader)
            found.append(take(iterator, 1))
            time.sleep(0.2)  # a training step
        found.append(list(loader))
        return found
    finally:
        loader.close()


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
