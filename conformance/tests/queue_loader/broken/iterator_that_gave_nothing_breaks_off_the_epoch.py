"""An epoch counts as broken off if the position is within it, whether or not the iterator before gave a batch.  Who meets it: programs
that make an iterator after a load, take nothing from it (a sanity check, a progress bar, an error), and make another.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, build, on, outcome, take

BREAKS = ('RESUME-7',)

EDITS = [
    ('loader.py',
     '            if run.delivered:\n                run.feed_rewind()\n',
     '            if self._point.batches:\n                run.feed_rewind()\n'),
]

sound, broken, Adapter = build(__file__, EDITS)


def scenario(cz):
    first = cz.Loader(Rows(12), 4, True, seed=1, collate_fn=list)
    take(iter(first), 1)
    again = cz.Loader(Rows(12), 4, True, seed=1, collate_fn=list)
    again.load_state_dict(first.state_dict())
    iter(again)
    return list(again)


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
