"""A StopIteration of collate_fn is passed on as it is, and ends the caller's loop.  Who meets it: a collate_fn that
takes something from an iterator of its own, which runs out.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome, take

BREAKS = ('FAULT-2',)

EDITS = [
    ('lane.py',
     '        except StopIteration as e:\n            e2 = RuntimeError("collate_fn raised StopIteration")\n            e2.__cause__ = e\n            return Answer("error", e2, len(rows))\n',
     ''),
]

sound, broken, Adapter = build(__file__, EDITS)


class Rows:
    """Random access: sample i is i."""

    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return i


def scenario(pl):
    names = iter(["a", "b"])
    loader = pl.Loader(Rows(8), 2, seed=1, collate_fn=lambda rows: (next(names), rows))
    got = []
    try:
        for batch in loader:
            got.append(batch)
    except RuntimeError as e:
        got.append(str(e))
    return got


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
