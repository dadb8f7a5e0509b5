"""A lane lists each of its batches that ended in an error for the replay, those of collate_fn among them.  The replay fetches samples
and does not collate, so the error does not come again, and the state is refused.  Who meets it: streams (or Stateful datasets with
an interval) whose collate_fn failed once, in a loop that logs the error and goes on.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, on, outcome, take

BREAKS = ("FAULT-11",)

EDITS = [
    ("loader.py",
     "        errors = mark.errors + ((mark.ordinal + mark.replay,) if outcome.fetch else ())\n",
     '        errors = mark.errors + ((mark.ordinal + mark.replay,) if outcome.kind == "error" else ())\n'),
]

sound, broken, Adapter = build(__file__, EDITS)


class Stream:
    def __iter__(self):
        return iter(range(30))


def picky(rows):
    if 7 in rows:
        raise ValueError("ragged")
    return list(rows)


def scenario(cz):
    def loader():
        return cz.Loader(Stream(), 3, seed=4, collate_fn=picky)

    whole = on(iter(loader()))
    first, again = loader(), loader()
    got = on(iter(first), 5)
    again.load_state_dict(first.state_dict())
    return got + on(iter(again), 20) == whole


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
