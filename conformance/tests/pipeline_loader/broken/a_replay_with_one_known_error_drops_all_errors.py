"""A replay asks whether the run before had met any error, and not whether it had met it at this batch.  Who meets it: a
stream without a state, with one bad record that was seen before the save, and another record that cannot be read
for a moment during the resume; this error is dropped, and what follows is shifted.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome, take

BREAKS = ('FAULT-10', 'FAULT-13')

EDITS = [
    ('lane.py',
     '        self.made = entry["made"]\n',
     '        self.made, self.known = entry["made"], entry["bad"]\n'),
    ('lane.py',
     '                if not bad:\n                    raise',
     '                if not self.known:\n                    raise'),
]

sound, broken, Adapter = build(__file__, EDITS)


class Stream:
    trouble = set()

    def __iter__(self):
        return Pass()


class Pass:
    def __init__(self):
        self.i = -1

    def __iter__(self):
        return self

    def __next__(self):
        self.i += 1
        if self.i == 12:
            raise StopIteration
        if self.i == 2:
            raise OSError("record 2 is bad")
        if self.i in Stream.trouble:
            Stream.trouble.discard(self.i)
            raise OSError(f"record {self.i} cannot be read now")
        return self.i


def go_on(it):
    got = []
    while True:
        try:
            got.append(next(it))
        except StopIteration:
            return got
        except OSError as e:
            got.append(str(e))


def scenario(pl):
    first = pl.Loader(Stream(), 2, seed=1)
    it, n = iter(first), 0
    while n < 4:
        n += 1
        try:
            next(it)
        except OSError:
            pass
    state = first.state_dict()
    Stream.trouble.add(5)
    again = pl.Loader(Stream(), 2, seed=1)
    again.load_state_dict(state)
    return go_on(iter(again))


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
