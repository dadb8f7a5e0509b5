"""The samples of a batch are fetched by list(map(...)), which takes a StopIteration of the dataset for the end of the
indices; the except clause after it never sees one. Who meets it: users of a map-style dataset that calls next on an
exhausted reader: the batch is short, and nothing says so.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome, take

BREAKS = ('FAULT-3',)

EDITS = [
    ('lane.py',
     '                return [data[i] for i in indices]',
     '                return list(map(data.__getitem__, indices))'),
]

sound, broken, Adapter = build(__file__, EDITS)


class Shards:
    """One of its files has fewer lines than its index says."""

    def __init__(self):
        self.files = [[0, 1, 2], [3, 4], [6, 7, 8]]

    def __len__(self):
        return 9

    def __getitem__(self, i):
        lines = iter(self.files[i // 3])
        for _ in range(i % 3):
            next(lines)
        return next(lines)


def scenario(pl):
    it, out = iter(pl.Loader(Shards(), 3)), []
    while True:
        try:
            out.append(next(it))
        except StopIteration:
            return out
        except Exception as e:
            out.append(type(e).__name__)


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
