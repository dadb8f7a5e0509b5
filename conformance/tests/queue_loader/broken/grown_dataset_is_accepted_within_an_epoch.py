"""A state is refused only if the dataset has become shorter; in a longer one the rest of the epoch is taken from another permutation.
Who meets it: shuffled datasets to which samples were added while a job was down.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, build, on, outcome, take

BREAKS = ('REFUSE-3',)

EDITS = [
    ('loader.py',
     '        if inside and point.length != self._length():\n',
     '        if inside and point.length is not None and point.length > self._length():\n'),
    ('loader.py',
     '        if self._point.batches and self._point.length != self._length():\n',
     '        if self._point.batches and self._point.length is not None and self._point.length > self._length():\n'),
]

sound, broken, Adapter = build(__file__, EDITS)


def scenario(cz):
    first = cz.Loader(Rows(20), 4, True, seed=1, collate_fn=list)
    got = take(iter(first), 3)
    again = cz.Loader(Rows(24), 4, True, seed=1, collate_fn=list)
    try:
        again.load_state_dict(first.state_dict())
    except cz.StateError:
        return "refused"
    return sorted(i for batch in got + list(again) for i in batch)


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
