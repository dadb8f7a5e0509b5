"""An epoch counts as begun when a batch was returned: if all its batches so far raised, a new iterator goes on within it
instead of beginning the next.  Who meets it: a first batch that cannot be read, caught, and a new loop.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, Walk, build, outcome, take

BREAKS = ('EPOCH-5',)

EDITS = [
    ('loader.py',
     '        self.ledger.opened = True\n        self.desk.deliver(reply)\n        if reply.kind == "error":\n            raise reply.value\n',
     '        self.desk.deliver(reply)\n        if reply.kind == "error":\n            raise reply.value\n        self.ledger.opened = True\n'),
]

sound, broken, Adapter = build(__file__, EDITS)


class First(Rows):
    def __getitem__(self, i):
        if i == 0:
            raise OSError("broken")
        return i


def scenario(dk):
    loader = dk.Loader(First(8), 2)
    try:
        next(iter(loader))
    except OSError:
        pass
    it, found = iter(loader), []
    while True:
        try:
            found.append(next(it))
        except OSError:
            found.append("error")
        except StopIteration:
            return found


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
