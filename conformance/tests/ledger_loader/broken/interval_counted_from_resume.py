"""A lane counts the batches between two snapshots by itself, from 0 on after each resume: a job that is interrupted
again and again within one interval never takes another snapshot, and replays more each time. Who meets it: long
intervals on machines that are often taken away.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, Walk, build, outcome, take

BREAKS = ('COST-3',)

EDITS = [
    ('hand.py',
     '        if job.kind == "free" or not job.every or self.ended or made is not None and made % job.every:\n            return None\n        return self.parts()\n',
     '        if job.kind == "free" or not job.every or self.ended:\n            return None\n        self.since += 1\n        if made is not None and self.since < job.every:\n            return None\n        self.since = 0\n        return self.parts()\n'),
    ('hand.py',
     '        self.ended, self.mix = False, None\n\n    # -- making\n',
     '        self.ended, self.mix, self.since = False, None, 0\n\n    # -- making\n'),
]

sound, broken, Adapter = build(__file__, EDITS)


READ = []


class Counted(Walk):
    def __iter__(self):
        for i in super().__iter__():
            READ.append(i)
            yield i


def scenario(dk):
    state, found = None, []
    for _ in range(8):
        loader = dk.Loader(Counted(60), 2, seed=1, snapshot_every=3)
        if state is not None:
            loader.load_state_dict(state)
        READ.clear()
        take(iter(loader), 2)
        found.append(len(READ))
        state = loader.state_dict()
    return f"samples read for 4, after each resume: {found}"


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
