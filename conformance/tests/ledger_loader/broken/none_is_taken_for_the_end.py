"""The end of a stream is told by a default of next(), None, so a row None ends it.  Who meets it: streams that give None
for rows without an annotation.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, Walk, build, outcome, take

BREAKS = ('BASIS-3',)

EDITS = [
    ('hand.py',
     '                rows.append(next(self.mix or self.iterator))\n            except StopIteration:\n                self.ended = True\n',
     '                row = next(self.mix or self.iterator, None)\n                if row is None:\n                    self.ended = True\n                else:\n                    rows.append(row)\n'),
]

sound, broken, Adapter = build(__file__, EDITS)


class Gaps:
    def __iter__(self):
        return iter([0, 1, None, 3, 4, 5])


def scenario(dk):
    return list(dk.Loader(Gaps(), 2))


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
