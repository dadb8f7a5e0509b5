"""The cursor of the next epoch is the old one with its fields reset, and the turn of the lanes is forgotten. An epoch
that ends has come back to its first lane; one that is broken off has not. Who meets it: users of streams with several
lanes and a limit on the steps of an epoch: the next epoch begins with another lane than in a run that was not broken
off there.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome, take

BREAKS = ('RESUME-7',)

EDITS = [
    ('loader.py',
     '        return Cursor(epoch=max(self._cursor.epoch + 1, self._named), carry=carry)',
     '        return dataclasses.replace(self._cursor, epoch=max(self._cursor.epoch + 1, self._named), given=0, rows=0,\n                                   carry=carry, mark=None, digest=None, length=None, lanes=None, restore=False,\n                                   touched=False)'),
]

sound, broken, Adapter = build(__file__, EDITS)


class Source:
    """A stream with a state that keeps its place for the pass that comes next."""

    def __init__(self, n, here=None):
        self.n, self.here, self.at = n, here, 0

    def __iter__(self):
        p = self.here() if self.here else None
        lane, lanes = (p.lane, p.lanes) if p else (0, 1)
        start, self.at = self.at, 0
        for k, i in enumerate(range(lane, self.n, lanes)):
            if k >= start:
                self.at = k + 1
                yield i
        self.at = 0

    def state_dict(self):
        return {"at": self.at}

    def load_state_dict(self, state):
        self.at = state["at"]


def scenario(pl):
    loader = pl.Loader(Source(12, pl.here), 2, lanes=2)
    take(iter(loader), 1)
    broken_off = list(loader)
    whole = pl.Loader(Source(12, pl.here), 2, lanes=2)
    list(whole)
    return broken_off, list(whole) == broken_off


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
