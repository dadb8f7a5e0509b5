"""Arrays are stacked into a buffer that is kept for the next batch of the same shape, and that is what is delivered.  With
worker processes each batch is a copy; without workers, or in threads, a later one writes over it.  Who meets it: whoever
accumulates batches without workers.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, Walk, build, outcome, take

BREAKS = ('BASIS-6',)

EDITS = [
    ('hand.py',
     '        return numpy.stack(rows)\n',
     '        key = (len(rows), rows[0].shape, rows[0].dtype.str)\n        if any(r.shape != rows[0].shape or r.dtype != rows[0].dtype for r in rows):\n            return numpy.stack(rows)\n        if key not in BUFFERS:\n            BUFFERS[key] = numpy.empty((len(rows), *rows[0].shape), rows[0].dtype)\n        return numpy.stack(rows, out=BUFFERS[key])\n'),
    ('hand.py',
     'def stack(rows):\n',
     'BUFFERS = {}\n\n\ndef stack(rows):\n'),
]

sound, broken, Adapter = build(__file__, EDITS)


class Arrays(Rows):
    def __getitem__(self, i):
        import numpy
        return numpy.array([i, i])


def scenario(dk):
    return [b.tolist() for b in list(dk.Loader(Arrays(6), 2))]


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
