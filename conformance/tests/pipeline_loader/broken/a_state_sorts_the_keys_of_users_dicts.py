"""States are copied by way of their canonical text, whose keys are sorted, so a dictionary in the dataset's state
comes back equal but in another order.  Who meets it: a dataset that walks over a dictionary of its state, for
example over its open sources in the order of their turns.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome, take

BREAKS = ('RESUME-1',)

EDITS = [
    ('codec.py',
     '    return json.loads(json.dumps(value, allow_nan=False))',
     '    return json.loads(canonical(value))'),
]

sound, broken, Adapter = build(__file__, EDITS)


class Turns:
    """The source that comes next is the first of a dictionary; then it goes to its end."""

    def __init__(self):
        self.at = {"web": 0, "books": 0, "code": 0}

    def __iter__(self):
        for _ in range(24):
            if sum(self.at.values()) >= 24:
                return
            name = next(iter(self.at))
            place = self.at.pop(name)
            self.at[name] = place + 1
            yield f"{name}{place}"

    def state_dict(self):
        return {"at": dict(self.at)}

    def load_state_dict(self, state):
        self.at = dict(state["at"])


def scenario(pl):
    first = pl.Loader(Turns(), 2, seed=1)
    take(iter(first), 3)
    again = pl.Loader(Turns(), 2, seed=1)
    again.load_state_dict(first.state_dict())
    return take(iter(again), 3)


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
