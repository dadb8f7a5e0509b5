"""After a resume, a shuffled stream knows which pulls raised in the run before, but its own next state does not list them: a
second resume meets them again and raises.  Who meets it: a shuffled stream with one broken row, stopped twice.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, Walk, build, outcome, take

BREAKS = ('FAULT-11',)

EDITS = [
    ('hand.py',
     'self.origin, self.faults, self.given = (self.block, self.pulls), list(faults), 0',
     'self.origin, self.faults, self.given = (self.block, self.pulls), [], 0\n        self.known = set(faults)'),
    ('hand.py',
     '                if number not in self.faults:\n                    self.faults.append(number)\n                    raise\n',
     '                if number not in self.known:\n                    self.faults.append(number)\n                    raise\n'),
    ('hand.py',
     '                if number not in self.faults:\n                    self.filling.append(row)\n',
     '                if number not in self.known:\n                    self.filling.append(row)\n'),
]

sound, broken, Adapter = build(__file__, EDITS)


class Holey:
    def __iter__(self):
        return HoleyIterator()


class HoleyIterator:
    i = -1

    def __iter__(self):
        return self

    def __next__(self):
        self.i += 1
        if self.i == 1:
            raise OSError("broken row")
        if self.i >= 12:
            raise StopIteration
        return self.i


def scenario(dk):
    def batches(it, n):
        found = []
        while len(found) < n:
            try:
                found.append(next(it))
            except OSError:
                found.append("error")
            except StopIteration:
                break
        return found

    make = lambda: dk.Loader(Holey(), 2, order="shuffle", mix=4, seed=1)
    loader = make()
    found = batches(iter(loader), 2)
    for n in (1, 1, 9):
        state, loader = loader.state_dict(), make()
        loader.load_state_dict(state)
        found += batches(iter(loader), n)
    return found


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
