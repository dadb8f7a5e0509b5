"""The length in a state is the dataset's when the state is taken, and not the one with which the epoch was planned.  Who
meets it: a dataset to which rows are added while an epoch runs; the resume shuffles the new length.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, Walk, build, outcome, take

BREAKS = ('REFUSE-3',)

EDITS = [
    ('loader.py',
     'if ledger.batches and ledger.length is not None:',
     'if ledger.batches and ledger.length is None:'),
]

sound, broken, Adapter = build(__file__, EDITS)


def scenario(dk):
    data = Rows(8)
    first = dk.Loader(data, 2, order="shuffle", seed=1)
    it = iter(first)
    before = take(it, 2)
    data.n = 11
    state = first.state_dict()
    again = dk.Loader(Rows(11), 2, order="shuffle", seed=1)
    try:
        again.load_state_dict(state)
    except dk.StateRefused:
        return "refused"
    return sorted(x for b in before + list(again) for x in b)


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
