"""The lane whose turn it is after a load is computed from the number of batches, which is right as long as no lane has ended.  Who
meets it: streams whose lanes have different lengths, saved in the later part of an epoch.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, build, on, outcome, take

BREAKS = ('RESUME-1', 'ELASTIC-1')

EDITS = [
    ('loader.py',
     '            loader._point = point._replace(lanes=tuple(marks))\n',
     '            loader._point = point._replace(lanes=tuple(marks), turn=point.batches % count)\n'),
]

sound, broken, Adapter = build(__file__, EDITS)


def scenario(cz):
    class Uneven:
        def __iter__(self):
            n = cz.lane().number
            return iter([(n, i) for i in range((2, 9, 8)[n])])

    first = cz.Loader(Uneven(), 1, seed=1, lanes=3, collate_fn=list)
    got = take(iter(first), 9)
    again = cz.Loader(Uneven(), 1, seed=1, lanes=3, collate_fn=list)
    again.load_state_dict(first.state_dict())
    return got + list(again) == list(cz.Loader(Uneven(), 1, seed=1, lanes=3, collate_fn=list))


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
