"""While a resume makes delivered batches again, only to drop them, the random numbers of the batches are not set up
as they were.  Who meets it: a dataset whose draws decide what later batches hold, such as a shuffle buffer in a
stream that has no state or is snapshotted at an interval.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome, take

BREAKS = ('VOWN-1', 'RESUME-1')

EDITS = [
    ('lane.py',
     '        with at(self._batch_place(index), self.streams):\n            try:\n                rows = self._fetch(indices)\n            except Exception:\n                if not bad',
     '        with at(self._place("open", self.number), self.streams):\n            try:\n                rows = self._fetch(indices)\n            except Exception:\n                if not bad'),
]

sound, broken, Adapter = build(__file__, EDITS)


def scenario(pl):
    class Buffered:
        def __iter__(self):
            held = []
            for i in range(20):
                held.append(i)
                if len(held) == 6:
                    yield held.pop(int(pl.draw() * 6))
            while held:
                yield held.pop(int(pl.draw() * len(held)))

    first = pl.Loader(Buffered(), 2, seed=1)
    take(iter(first), 4)
    again = pl.Loader(Buffered(), 2, seed=1)
    again.load_state_dict(first.state_dict())
    return list(again)


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
