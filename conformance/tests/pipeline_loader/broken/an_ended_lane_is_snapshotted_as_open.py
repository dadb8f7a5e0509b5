"""A lane is snapshotted after its last, short batch like after any other, and the snapshot says nothing of the end.
Who meets it: a stateful stream that rewinds itself at its end, in lanes of uneven length, resumed after one of
them has ended: that lane begins again.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome, take

BREAKS = ('RESUME-1', 'BASIS-3')

EDITS = [
    ('lane.py',
     'if not self.over and job.step and (',
     'if job.step and ('),
    ('loader.py',
     '            if own.style == "stream":\n                lanes = [{**e, "over": True} if over and not e["over"] else e for e, over in zip(lanes, line.over)]\n',
     ''),
]

sound, broken, Adapter = build(__file__, EDITS)


def scenario(pl):
    class Stream:
        """Rewinds itself at its end."""

        def __init__(self):
            self.pos = 0

        def __iter__(self):
            lane = pl.here().lane
            n = (3, 9)[lane]
            while self.pos < n:
                self.pos += 1
                yield f"{lane}.{self.pos - 1}"
            self.pos = 0

        def state_dict(self):
            return {"pos": self.pos}

        def load_state_dict(self, state):
            self.pos = state["pos"]

    first = pl.Loader(Stream(), 2, seed=1, lanes=2)
    take(iter(first), 4)
    again = pl.Loader(Stream(), 2, seed=1, lanes=2)
    again.load_state_dict(first.state_dict())
    return list(again)


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
