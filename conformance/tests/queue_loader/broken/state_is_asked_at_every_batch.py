"""The dataset's state is asked for at every batch, and only then it is seen that the interval is not over.  Who meets it: datasets
with large states, whose users gave a long interval for that reason.  No batch and no state shows it.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, build, on, outcome, take

BREAKS = ('COST-2',)

EDITS = [
    ('bench.py',
     '        if not every or not (failed or (ordinal + 1) % every == 0):\n            return None\n',
     '        if not every:\n            return None\n'),
    ('bench.py',
     '            return pickle.dumps(parts, 4) if parts else None\n',
     '            due = failed or (ordinal + 1) % every == 0\n            return pickle.dumps(parts, 4) if parts and due else None\n'),
]

sound, broken, Adapter = build(__file__, EDITS)


CALLS = []


class Large:
    at = begin = 0

    def __iter__(self):
        self.at = self.begin
        while self.at < 40:
            self.at += 1
            yield self.at - 1

    def state_dict(self):
        CALLS.append(self.at)
        return self.at

    def load_state_dict(self, state):
        self.begin = state


def scenario(cz):
    CALLS.clear()
    list(cz.Loader(Large(), 2, seed=1, interval=10))
    return len(CALLS)


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
