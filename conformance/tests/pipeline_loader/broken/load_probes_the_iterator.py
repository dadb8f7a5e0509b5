"""A load that has a part for the dataset's iterator looks whether an iterator can load it, and makes one for that. Who
meets it: users of streams whose iterator has the state: each resume opens their files, or begins their download, once
more.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome, take

BREAKS = ('COST-4',)

EDITS = [
    ('loader.py',
     '        self._pool.close()\n        self._owner, self._named, self.seed',
     '        if any("i" in entry["has"] for entry in doc["lanes"] or ()) and not stateful(iter(self.dataset)):\n            raise StateRefused("the state has a part for an iterator, and this dataset\'s has no load_state_dict")\n        self._pool.close()\n        self._owner, self._named, self.seed'),
]

sound, broken, Adapter = build(__file__, EDITS)


class Files:
    """Its iterators have a state; it counts how often it opens its files."""

    def __init__(self, n, opened):
        self.n, self.opened = n, opened

    def __deepcopy__(self, memo):
        return self

    def __iter__(self):
        self.opened.append(1)
        return Reader(self.n)


class Reader:
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
        return {"at": self.at}

    def load_state_dict(self, state):
        self.at = state["at"]


def scenario(pl):
    first = pl.Loader(Files(10, []), 2)
    take(iter(first), 2)
    opened = []
    again = pl.Loader(Files(10, opened), 2)
    again.load_state_dict(first.state_dict())
    return list(again), len(opened)


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
