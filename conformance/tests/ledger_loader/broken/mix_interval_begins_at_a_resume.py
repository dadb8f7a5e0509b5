"""A shuffled stream counts the batches since its last snapshot from the resume on, not from the snapshot: runs that are
shorter than the interval never take one.  Who meets it: shuffled streams in jobs that are stopped often; the loader was
first written so.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Walk, build, outcome, take

BREAKS = ('COST-3',)

EDITS = [
    ('hand.py',
     '        self.batches = given // (self.job.batch_size or 1)  # the interval goes on after a resume\n',
     '        self.batches = 0\n'),
]

sound, broken, Adapter = build(__file__, EDITS)


READ = []


class Counted(Walk):
    """Counts what is read, in a list that its copies share."""

    def __iter__(self):
        for i in super().__iter__():
            READ.append(i)
            yield i


def scenario(dk):
    state, read = None, []
    for _ in range(8):
        READ.clear()
        loader = dk.Loader(Counted(100), 2, order="shuffle", mix=6, seed=1, snapshot_every=3)
        if state is not None:
            loader.load_state_dict(state)
        take(iter(loader), 2)
        state = loader.state_dict()
        read.append(len(READ))
    return f"the last resumes read no more than the first: {max(read[-3:]) <= max(read[:3])}"


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
