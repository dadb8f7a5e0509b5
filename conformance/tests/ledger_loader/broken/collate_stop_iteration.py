"""A StopIteration that a collate raises is raised to the caller as it is, who takes it for the end of the epoch. Who
meets it: a collate that calls next() on an iterator that has ended.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, Walk, build, outcome, take

BREAKS = ('FAULT-2',)

EDITS = [
    ('hand.py',
     '                kind, rows = "error", RuntimeError(f"collate raised {e!r}") if isinstance(e, StopIteration) else e\n',
     '                kind, rows = "error", e\n'),
]

sound, broken, Adapter = build(__file__, EDITS)


def collate(rows):
    if 5 in rows:
        next(iter(()))
    return rows


def scenario(dk):
    return list(dk.Loader(Rows(13), 4, seed=1, collate=collate))


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
