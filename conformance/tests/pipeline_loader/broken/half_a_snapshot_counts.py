"""The states of the dataset and of its iterator are taken one by one, and where one of them fails the snapshot is kept
with the other alone. Who meets it: a dataset with both states, whose iterator's state_dict raises at some place (in
the middle of a file, say): the resume loads half of the state, and the other half begins anew.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome, take

BREAKS = ('RESUME-7', 'INTERVAL-1')

EDITS = [
    ('lane.py',
     '        try:\n            if stateful(self.data) and self.it is not self.data:\n                snap["data"], snap["has"] = freeze(self.data.state_dict()), "d"\n            if self.it is not None and stateful(self.it):\n                snap["iter"], snap["has"] = freeze(self.it.state_dict()), snap["has"] + "i"\n        except Exception as e:\n            warnings.warn(f"state_dict of the dataset failed ({e!r}); a resume will begin at an older state",\n                          stacklevel=2)\n            return None\n',
     '        own = self.data if self.it is not self.data else None\n        for name, thing in (("data", own), ("iter", self.it)):\n            if thing is None or not stateful(thing):\n                continue\n            try:\n                snap[name], snap["has"] = freeze(thing.state_dict()), snap["has"] + name[0]\n            except Exception as e:\n                warnings.warn(f"state_dict of the {name} failed ({e!r})", stacklevel=2)\n'),
]

sound, broken, Adapter = build(__file__, EDITS)


class Both:
    """The dataset counts its passes, and its iterator the place in a pass."""

    def __init__(self, n):
        self.n, self.passes = n, 0

    def __iter__(self):
        self.passes += 1
        return Steps(self.n)

    def state_dict(self):
        return {"passes": self.passes}

    def load_state_dict(self, state):
        self.passes = state["passes"]


class Steps:
    def __init__(self, n):
        self.n, self.at = n, 0

    def __iter__(self):
        return self

    def __next__(self):
        if self.at == self.n:
            raise StopIteration
        self.at += 1
        return self.at - 1

    def state_dict(self):
        if self.at == 6:
            raise OSError("no place here")
        return {"at": self.at}

    def load_state_dict(self, state):
        self.at = state["at"]


def scenario(pl):
    first = pl.Loader(Both(12), 2)
    take(iter(first), 3)
    again = pl.Loader(Both(12), 2)
    again.load_state_dict(first.state_dict())
    return list(again)



def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
