"""StopIteration that a dataset raises for a key is passed on as it is, and ends the caller's loop.  Who meets it: a
__getitem__ that calls next() on an iterator which is exhausted.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, Walk, build, outcome, take

BREAKS = ('FAULT-3',)

EDITS = [
    ('hand.py',
     '        except StopIteration as e:\n            error = RuntimeError(f"the dataset raised StopIteration for one of the keys {keys!r}")\n            error.__cause__ = e\n            raise DatasetFault(error, done)\n',
     ''),
]

sound, broken, Adapter = build(__file__, EDITS)


class Ends(Rows):
    def __getitem__(self, i):
        return next(iter(())) if i == 5 else i


def scenario(dk):
    return list(dk.Loader(Ends(10), 2))


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
