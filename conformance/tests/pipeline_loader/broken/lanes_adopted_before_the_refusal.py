"""The lanes of a state are adopted while its plan is compared, before a difference in another field refuses it. Who
meets it: a program that catches the refusal of an old checkpoint (another batch size, and another number of workers)
and starts over: it divides its stream as the old run did.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome, take

BREAKS = ('REFUSE-4',)

EDITS = [
    ('loader.py',
     '            own["lanes"] = saved["lanes"]\n',
     '            own["lanes"] = self._lanes = saved["lanes"]\n'),
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
    old = pl.Loader(Source(12, pl.here), 3, workers=3)
    state = old.state_dict()
    old.close()
    loader = pl.Loader(Source(12, pl.here), 2)
    try:
        loader.load_state_dict(state)
    except ValueError:
        return list(loader)


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
