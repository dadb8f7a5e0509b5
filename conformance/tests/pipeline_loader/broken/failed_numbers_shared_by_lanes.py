"""The number of a failed batch is appended to the list of its lane's entry. A copy of an entry shares that list, and the
entries of new lanes are all copies of one: a failure of one lane is noted for every lane, and for every later epoch.
Who meets it: users of a plain stream with several lanes and a bad record, when an interrupt or a worker's death makes
the lanes replay: a good batch is expected to fail.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome, take

BREAKS = ('FAULT-12', 'FAULT-8')

EDITS = [
    ('lane.py',
     '    return {**entry, "again": entry["again"] + 1, "over": answer.over,\n            "bad": entry["bad"] + [number] if answer.bad else entry["bad"]}',
     '    if answer.bad:\n        entry["bad"].append(number)\n    return {**entry, "again": entry["again"] + 1, "over": answer.over}'),
]

sound, broken, Adapter = build(__file__, EDITS)


class Records:
    """A stream in two shares, with one unreadable record; somebody stops the run once at record 9."""

    def __init__(self, here, stops):
        self.here, self.stops = here, stops

    def __deepcopy__(self, memo):
        return self

    def __iter__(self):
        p = self.here()
        return Reader(p.lane, p.lanes, self.stops)


class Reader:
    def __init__(self, lane, lanes, stops):
        self.at, self.step, self.stops = lane - lanes, lanes, stops

    def __iter__(self):
        return self

    def __next__(self):
        self.at += self.step
        if self.at >= 16:
            raise StopIteration
        if self.at == 2:
            raise OSError("unreadable")
        if self.at == 9 and self.stops:
            self.stops.pop()
            raise KeyboardInterrupt
        return self.at


def scenario(pl):
    it, out = iter(pl.Loader(Records(pl.here, [1]), 2, lanes=2)), []
    while True:
        try:
            out.append(next(it))
        except StopIteration:
            return out
        except OSError:
            out.append("error")
        except KeyboardInterrupt:
            out.append("interrupt")


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
