"""A reply is not asked to which job it belongs.  Persistent workers that were ahead when an epoch was broken off send its
batches into the next one.  Who meets it: sanity checks and limits on steps with persistent workers.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, Walk, build, outcome, take

BREAKS = ('EPOCH-5',)

EDITS = [
    ('desk.py',
     '        if reply.job != self.job_id:\n            return\n',
     ''),
]

sound, broken, Adapter = build(__file__, EDITS)


def scenario(dk):
    import time
    loader = dk.Loader(Rows(12), 2, order="shuffle", seed=1, workers=1, kind="thread", persistent=True, prefetch=3)
    it = iter(loader)
    next(it)
    time.sleep(0.3)
    found = sorted(x for b in loader for x in b)
    loader.close()
    return found


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
