"""A dataset that has grown may load a state, also one from the middle of an epoch, whose shuffled order belongs to the old
length.  Who meets it: data that is still being collected, and a job that restarts within an epoch.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, Walk, build, outcome, take

BREAKS = ('REFUSE-3',)

EDITS = [
    ('loader.py',
     '        if state["batches"] == 0:\n            own',
     '        if state["batches"] == 0 or (own["length"] or 0) > (saved["length"] or 0):\n            own'),
]

sound, broken, Adapter = build(__file__, EDITS)


def scenario(dk):
    first = dk.Loader(Rows(8), 2, order="shuffle", seed=1)
    it = iter(first)
    before = take(it, 2)
    again = dk.Loader(Rows(12), 2, order="shuffle", seed=1)
    try:
        again.load_state_dict(first.state_dict())
    except dk.StateRefused:
        return "refused"
    return sorted(x for b in before + list(again) for x in b)


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
