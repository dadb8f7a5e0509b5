"""The errors of a lane are written as a mapping from the batch's number, whose keys are texts after json: a replay then
takes the listed errors for new ones. Who meets it: streams with an unreadable row, and states kept as json.
"""
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, Walk, build, outcome, take

BREAKS = ('STATE-3', 'FAULT-11')

EDITS = [
    ('ledger.py',
     '"errors": [[o, n] for o, n in sorted(s.errors.items())]}',
     '"errors": dict(s.errors)}'),
    ('ledger.py',
     '{o: n for o, n in s["errors"]}) for s',
     's["errors"]) for s'),
]

sound, broken, Adapter = build(__file__, EDITS)


class Unreadable:
    """A stream that goes on after a row that cannot be read."""

    def __iter__(self):
        return Reading()


class Reading:
    i = 0

    def __iter__(self):
        return self

    def __next__(self):
        self.i += 1
        if self.i == 4:
            raise OSError("row 3 cannot be read")
        if self.i > 16:
            raise StopIteration
        return self.i - 1


def scenario(dk):
    first, again = (dk.Loader(Unreadable(), 2, seed=1) for _ in range(2))
    iterator, found = iter(first), []
    for _ in range(4):
        found.append(outcome(next, iterator))
    again.load_state_dict(json.loads(json.dumps(first.state_dict())))
    return found, outcome(list, again)


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
