"""Without workers the caller's global random streams are put back as soon as the samples are fetched, before collate_fn
is called.  Who meets it: a collate_fn that draws from random, NumPy or torch, without workers; after a resume in
another process it draws other numbers.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome, take

BREAKS = ('VAMB-1',)

EDITS = [
    ('lane.py',
     '                answer = self._collate(rows)\n                answer.over = self.over\n',
     '                answer = Answer("batch", None, len(rows), self.over)\n'),
    ('lane.py',
     '        with at(self._batch_place(index), self.streams):\n            try:\n                rows = self._fetch(indices)\n            except Exception as e:',
     '        place = self._batch_place(index)\n        with at(place, self.streams):\n            try:\n                rows = self._fetch(indices)\n            except Exception as e:'),
    ('lane.py',
     '                answer.snap = self._snapshot()\n        return answer\n',
     '                answer.snap = self._snapshot()\n        if answer.what == "batch":\n            with at(place, "shared"):\n                made = self._collate(rows)\n            answer.what, answer.value = made.what, made.value\n        return answer\n'),
]

sound, broken, Adapter = build(__file__, EDITS)


class Rows:
    """Random access: sample i is i."""

    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return i


def mix(rows):
    import random
    return rows, round(random.random(), 6)


def scenario(pl):
    import random
    random.seed(1)
    first = pl.Loader(Rows(8), 2, seed=1, collate_fn=mix)
    whole = list(first)
    first = pl.Loader(Rows(8), 2, seed=1, collate_fn=mix)
    random.seed(1)
    take(iter(first), 2)
    again = pl.Loader(Rows(8), 2, seed=1, collate_fn=mix)
    again.load_state_dict(first.state_dict())
    random.seed(2)  # another process
    return list(again) == whole[2:]


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
