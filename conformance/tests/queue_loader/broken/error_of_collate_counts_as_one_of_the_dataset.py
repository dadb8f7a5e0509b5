"""An exception of collate_fn is listed among the errors of the lane's dataset, and a replay, which calls no collate_fn, waits for it
in vain.  Who meets it: streams with a snapshot interval of more than one batch, or none, after a failed collate_fn.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, build, on, outcome, take

BREAKS = ('FAULT-11',)

EDITS = [
    ('bench.py',
     '                return Outcome("error", e, snap, ended)\n',
     '                return Outcome("error", e, snap, ended, fetch=True)\n'),
]

sound, broken, Adapter = build(__file__, EDITS)


class Stream:
    def __iter__(self):
        return iter(range(12))


def strict(rows):
    if 4 in rows:
        raise ValueError("no fours")
    return rows


def scenario(cz):
    first = cz.Loader(Stream(), 2, seed=1, collate_fn=strict)
    on(iter(first), 4)
    again = cz.Loader(Stream(), 2, seed=1, collate_fn=strict)
    again.load_state_dict(first.state_dict())
    return list(again)


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
