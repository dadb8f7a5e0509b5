"""An epoch counts as begun when it is opened, and not when its first batch is delivered.  Who meets it: a resume whose
replay raises (a file that cannot be read for a moment), and a caller that catches the error and makes a new iterator:
the rest of the epoch is taken for broken off, and the next epoch comes.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome, take

BREAKS = ('FAULT-13',)

EDITS = [
    ('loader.py',
     '        own = self.loader\n        c = own._cursor\n        if own.style == "map" and (',
     '        own = self.loader\n        c = own._cursor = dataclasses.replace(own._cursor, touched=True)\n        if own.style == "map" and ('),
]

sound, broken, Adapter = build(__file__, EDITS)


TROUBLE = set()


class Stream:
    def __iter__(self):
        for i in range(10):
            if i in TROUBLE:
                TROUBLE.discard(i)
                raise OSError("not now")
            yield i


def scenario(pl):
    first = pl.Loader(Stream(), 2, seed=1)
    take(iter(first), 3)
    again = pl.Loader(Stream(), 2, seed=1)
    again.load_state_dict(first.state_dict())
    TROUBLE.add(3)
    try:
        list(again)
    except OSError:
        pass
    return list(again)


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
