"""The number of lanes of a loaded state is that of its entries, and the loader keeps its own for the epochs that follow.
Who meets it: users of streams who resume with another number of workers: the loaded epoch is exact, and all later
ones are divided anew.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome, take

BREAKS = ('ELASTIC-1',)

EDITS = [
    ('loader.py',
     '        return self._lanes if self.has_lanes else hosts\n',
     '        if not self.has_lanes:\n            return hosts\n        return len(self._cursor.lanes) if self._cursor.lanes else self._lanes\n'),
    ('loader.py',
     '"lanes": self._lanes if self.has_lanes else None}',
     '"lanes": self.lane_count(None)}'),
    ('loader.py',
     '        if own["lanes"] is not None:\n            self._lanes = own["lanes"]\n',
     '        lanes = doc["lanes"]\n        if lanes is None and self.has_lanes:\n            lanes = [NEW] * own["lanes"]\n'),
    ('loader.py',
     'doc["turn"], doc["lanes"], doc["mark"] is not None)',
     'doc["turn"], lanes, doc["mark"] is not None)'),
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
    first = pl.Loader(Source(12, pl.here), 2, workers=3)
    take(iter(first), 2)
    state = first.state_dict()
    first.close()
    again = pl.Loader(Source(12, pl.here), 2)
    again.load_state_dict(state)
    return [list(again) for _ in range(2)]


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
