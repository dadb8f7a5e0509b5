"""A longer dataset is accepted within an epoch, too, as one that was appended to: under a shuffled order the rest is
that of another permutation. Who meets it: data that grows between a save and a resume.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, Walk, build, outcome, take

BREAKS = ('REFUSE-3',)

EDITS = [
    ('loader.py',
     '        if state["batches"] == 0:\n            own["length"] = saved["length"] if own["length"] is not None else None\n',
     '        if state["batches"] == 0 or (own["length"] or 0) > (saved["length"] or 0):  # it may have grown\n            own["length"] = saved["length"] if own["length"] is not None else None\n'),
]

sound, broken, Adapter = build(__file__, EDITS)


def scenario(dk):
    first, again = dk.Loader(Rows(12), 4, order="shuffle", seed=1), dk.Loader(Rows(14), 4, order="shuffle", seed=1)
    found = take(iter(first), 2)
    again.load_state_dict(first.state_dict())
    return sorted(sum(found + list(again), []))


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
