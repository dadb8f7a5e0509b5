"""After an exception a lane is taken to be at its end if its iterator has no frame left, and iterators that are no generators never
have one.  Who meets it: streams whose iterator can go on after an unreadable record.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, build, on, outcome, take

BREAKS = ('FAULT-5',)

EDITS = [
    ('bench.py',
     'getattr(self.iterator, "gi_frame", self) is None',
     'getattr(self.iterator, "gi_frame", None) is None'),
]

sound, broken, Adapter = build(__file__, EDITS)


class Records:
    i = 0

    def __iter__(self):
        return self

    def __next__(self):
        if self.i == 10:
            raise StopIteration
        self.i += 1
        if self.i == 5:
            raise OSError("unreadable")
        return self.i - 1


def scenario(cz):
    return on(iter(cz.Loader(Records(), 2, seed=1, collate_fn=list)))


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
