"""A lane counts only the batches that it made, not those in which the dataset raised an error; states and replays count
both. Who meets it: users of a plain stream with a bad record, who go on after the error, save and resume: what the
samples then draw is another batch's. With a stateful map-style dataset and an interval, the wrong batches are
replayed.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome, take

BREAKS = ('VOWN-1', 'FAULT-11')

EDITS = [
    ('lane.py',
     '                answer.over = self.over\n            self.made += 1\n',
     '                answer.over = self.over\n                self.made += 1\n'),
]

sound, broken, Adapter = build(__file__, EDITS)


class Records:
    """A stream with one unreadable record; its iterator can go on."""

    def __init__(self, n, draw):
        self.n, self.draw = n, draw

    def __iter__(self):
        return Reader(self.n, self.draw)


class Reader:
    def __init__(self, n, draw):
        self.n, self.draw, self.at = n, draw, 0

    def __iter__(self):
        return self

    def __next__(self):
        if self.at >= self.n:
            raise StopIteration
        self.at += 1
        if self.at == 4:
            raise OSError("unreadable")
        return self.at - 1, round(self.draw(), 6)


def rest(it):
    out = []
    while True:
        try:
            out.append(next(it))
        except StopIteration:
            return out
        except OSError:
            out.append("error")


def scenario(pl):
    whole = rest(iter(pl.Loader(Records(14, pl.draw), 2, seed=1)))
    first = pl.Loader(Records(14, pl.draw), 2, seed=1)
    it = iter(first)
    take(it, 1)
    try:
        next(it)
    except OSError:
        pass
    take(it, 1)
    again = pl.Loader(Records(14, pl.draw), 2, seed=1)
    again.load_state_dict(first.state_dict())
    return rest(iter(again)) == whole[3:]


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
