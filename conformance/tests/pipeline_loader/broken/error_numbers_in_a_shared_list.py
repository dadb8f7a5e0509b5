"""The numbers of a lane's failed batches are appended to the list of its entry, and the entry of a lane's beginning is
one object for all lanes, epochs and loaders of the process. Who meets it: a plain stream with an error in one lane,
whose state then lists the error in the other lanes (and in later epochs) too, so a resume finds a batch that does
not raise.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome, take

BREAKS = ('FAULT-11', 'RESUME-7')

EDITS = [
    ('lane.py',
     '    number = entry["made"] + entry["again"]\n    return {**entry, "again": entry["again"] + 1, "over": answer.over,\n            "bad": entry["bad"] + [number] if answer.bad else entry["bad"]}',
     '    if answer.bad:\n        entry["bad"].append(entry["made"] + entry["again"])\n    return {**entry, "again": entry["again"] + 1, "over": answer.over}'),
]

sound, broken, Adapter = build(__file__, EDITS)


class Stream:
    """A plain stream whose own iterator goes on after an error at each of `bad`; a sample is (i, a drawn number)."""

    def __init__(self, pl, n, bad=()):
        self.here, self.draw, self.n, self.bad = pl.here, pl.draw, n, bad

    def __iter__(self):
        p = self.here()
        return Steps(self.draw, range(p.lane, self.n, p.lanes), self.bad)


class Steps:
    def __init__(self, draw, ids, bad):
        self.draw, self.ids, self.bad = draw, iter(ids), bad

    def __iter__(self):
        return self

    def __next__(self):
        i = next(self.ids)
        if i in self.bad:
            raise ValueError(f"sample {i}")
        return i, round(self.draw(), 6)


def run(it):
    """All batches, errors in words."""
    out = []
    while True:
        try:
            out.append(next(it))
        except StopIteration:
            return out
        except ValueError as e:
            out.append(str(e))


def scenario(pl):
    first = pl.Loader(Stream(pl, 16, {2}), 2, seed=1, lanes=2)
    it = iter(first)
    try:
        next(it)
    except ValueError:
        pass
    before = take(it, 3)
    again = pl.Loader(Stream(pl, 16, {2}), 2, seed=1, lanes=2)
    again.load_state_dict(first.state_dict())
    return run(iter(again)) == run(it)



def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
