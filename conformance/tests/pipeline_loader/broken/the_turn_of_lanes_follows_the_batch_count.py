"""The lane whose turn is next is saved as the count of batches modulo the lanes, which is right only until the
first lane ends.  Who meets it: a stream in three or more lanes of uneven length, resumed after the shortest
lane has ended; the batches come in another order.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome, take

BREAKS = ('RESUME-1',)

EDITS = [
    ('loader.py',
     'turn=line.turn, lanes=lanes,',
     'turn=(c.given + 1) % line.lanes if own.style == "stream" else line.turn, lanes=lanes,'),
]

sound, broken, Adapter = build(__file__, EDITS)


class Uneven:
    def __init__(self, here):
        self.here = here

    def __deepcopy__(self, memo):
        return Uneven(self.here)

    def __iter__(self):
        lane = self.here().lane
        return iter([f"{lane}.{j}" for j in range((5, 1, 5)[lane])])


def scenario(pl):
    first = pl.Loader(Uneven(pl.here), 1, seed=1, lanes=3)
    take(iter(first), 5)
    again = pl.Loader(Uneven(pl.here), 1, seed=1, lanes=3)
    again.load_state_dict(first.state_dict())
    return list(again)


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
