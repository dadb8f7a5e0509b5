"""A load copies the state's top level; that the whole can be copied is checked, and the copy thrown away. The lanes'
entries stay the caller's own lists and dicts. Who meets it: a program that loads a checkpoint and then frees or
rewrites what it read, before the first batch.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome, take

BREAKS = ('STATE-5',)

EDITS = [
    ('loader.py',
     '            doc = copy(state)\n        except',
     '            copy(state)\n            doc = dict(state)\n        except'),
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
    first = pl.Loader(Source(12), 2)
    take(iter(first), 2)
    state = first.state_dict()
    again = pl.Loader(Source(12), 2)
    again.load_state_dict(state)
    state["lanes"][0]["data"].clear()
    state["lanes"][0]["data"]["at"] = 0
    return list(again)


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
