"""What an epoch leaves over is cut from its own order, without regard to the samples that had been carried into it.  Who meets
it: the tail rollover from its second epoch on, if the first one left something over.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, build, on, outcome, take

BREAKS = ('EPOCH-7', 'EPOCH-6')

EDITS = [
    ('feed.py',
     '        return tuple(self.carried[start:] + self.order.at(max(0, start - c), self.length))\n',
     '        return tuple(self.carried[start:] + self.order.at(start, self.length))\n'),
]

sound, broken, Adapter = build(__file__, EDITS)


def scenario(cz):
    loader = cz.Loader(Rows(11), 4, seed=1, collate_fn=list, tail="rollover")
    return [list(loader) for _ in range(4)]


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
