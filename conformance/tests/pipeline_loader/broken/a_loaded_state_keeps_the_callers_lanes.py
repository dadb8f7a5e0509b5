"""The load checks a copy of the state, but keeps the caller's own list of lanes, which is read only when the first
batch is asked for.  Who meets it: a program that frees, empties or reuses the state between the load and the
first batch, with a stateful dataset.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome, take

BREAKS = ('STATE-5',)

EDITS = [
    ('loader.py',
     'doc["turn"], doc["lanes"], doc["mark"] is not None)',
     'doc["turn"], state["lanes"], doc["mark"] is not None)'),
]

sound, broken, Adapter = build(__file__, EDITS)


class Stream:
    def __init__(self):
        self.pos = 0

    def __iter__(self):
        while self.pos < 10:
            self.pos += 1
            yield self.pos - 1

    def state_dict(self):
        return {"pos": self.pos}

    def load_state_dict(self, state):
        self.pos = state["pos"]


def scenario(pl):
    first = pl.Loader(Stream(), 2, seed=1)
    take(iter(first), 3)
    state = first.state_dict()
    again = pl.Loader(Stream(), 2, seed=1)
    again.load_state_dict(state)
    state["lanes"][0]["data"] = {"pos": 0}  # the caller uses its object for something else
    return list(again)


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
