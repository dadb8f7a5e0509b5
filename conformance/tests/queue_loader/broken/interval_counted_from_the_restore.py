"""A lane counts the batches between two snapshots by itself, from 0 when it is opened, and not by the ordinals of its batches.  A run
that is interrupted before its first snapshot replays more after each resume.  Who meets it: jobs on machines that are taken away
often, with an interval longer than what they deliver in one go.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome, take

BREAKS = ("COST-3",)

EDITS = [
    ("bench.py",
     """        every = self.job.every
        if not every or not (failed or (ordinal + 1) % every == 0):
""",
     """        every = self.job.every
        self.made += 1
        if not every or not (failed or self.made % every == 0):
"""),
    ("bench.py",
     """    iterator = None

    def __init__(self, bench, number):
""",
     """    iterator, made = None, 0

    def __init__(self, bench, number):
"""),
]

sound, broken, Adapter = build(__file__, EDITS)


fetched = []


class Counted:
    """A stream with a state, of which each sample that is fetched is noted."""

    at = 0

    def __iter__(self):
        while self.at < 400:
            self.at += 1
            fetched.append(self.at)
            yield self.at

    def state_dict(self):
        return {"at": self.at}

    def load_state_dict(self, state):
        self.at = state["at"]


def scenario(cz):
    state, costs = None, []
    for _ in range(30):
        loader = cz.Loader(Counted(), 1, seed=9, interval=5, collate_fn=list)
        if state is not None:
            loader.load_state_dict(state)
        fetched.clear()
        take(iter(loader), 3)
        costs.append(len(fetched) - 3)
        state = loader.state_dict()
    return max(costs) < 5


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
