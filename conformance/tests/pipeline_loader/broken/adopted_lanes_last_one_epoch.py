"""The lanes of a state are taken for the rest of its epoch, and the epochs after it have as many as there are workers.
Who meets it: a stream whose lanes nobody has given, resumed with another number of workers: later epochs are divided
anew.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome, take

BREAKS = ('EPOCH-1', 'ELASTIC-1')

EDITS = [
    ('loader.py',
     '        if own["lanes"] is not None:\n            self._lanes = own["lanes"]\n',
     ''),
    ('loader.py',
     '        return self._lanes if self.has_lanes else hosts',
     '        if not self.has_lanes:\n            return hosts\n        return len(self._cursor.lanes) if self._cursor.lanes else self._lanes'),
    ('loader.py',
     '"lanes": self._lanes if self.has_lanes else None}',
     '"lanes": self.lane_count(None)}'),
]

sound, broken, Adapter = build(__file__, EDITS)


class Stream:
    def __init__(self, here, n):
        self.here, self.n = here, n

    def __iter__(self):
        p = self.here()
        return iter(range(p.lane, self.n, p.lanes))


def scenario(pl):
    first = pl.Loader(Stream(pl.here, 12), 2, workers=2)
    it = iter(first)
    take(it, 2)
    again = pl.Loader(Stream(pl.here, 12), 2, workers=3)
    again.load_state_dict(first.state_dict())
    return list(it) == list(again), list(first) == list(again)



def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
