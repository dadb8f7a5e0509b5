"""After an error the hosts are closed only if a line was open, but an error of a replay arises while the line is made,
so the answers of the other lanes stay in the hosts. Who meets it: a resume with two or more lanes whose replay
raises once and whose caller goes on with the same iterator.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome, take

BREAKS = ('FAULT-13',)

EDITS = [
    ('loader.py',
     '    def drop(self):\n        self.line = None\n        self.loader._pool.close()',
     '    def drop(self):\n        if self.line is not None:\n            self.line = None\n            self.loader._pool.close()'),
]

sound, broken, Adapter = build(__file__, EDITS)


class Rows:
    """Random access: sample i is i."""

    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return i


GATE = []


class Stream:
    def __init__(self, pl, n):
        self.here, self.n = pl.here, n

    def __iter__(self):
        p = self.here()
        for i in range(p.lane, self.n, p.lanes):
            if i == 2 and GATE:
                GATE.clear()
                raise OSError("cannot read just now")
            yield i


def scenario(pl):
    first = pl.Loader(Stream(pl, 12), 2, lanes=2)
    take(iter(first), 3)
    again = pl.Loader(Stream(pl, 12), 2, lanes=2)
    again.load_state_dict(first.state_dict())
    GATE.append(1)
    it = iter(again)
    try:
        next(it)
    except OSError:
        pass
    return list(it)



def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
