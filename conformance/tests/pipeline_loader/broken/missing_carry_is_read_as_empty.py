"""The rule rollover came late: a state without the carried samples is one of an older version, in which nothing was
carried, and the checksum leaves them out. Who meets it: a checkpoint from which a tool has removed that part.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome, take

BREAKS = ('REFUSE-2',)

EDITS = [
    ('loader.py',
     '        check(doc, KEYS, "the state")',
     '        doc.setdefault("carry", [])  # states of before rollover have none\n        check(doc, KEYS, "the state")'),
    ('codec.py',
     'if k != "seal"}',
     'if k not in ("seal", "carry")}'),
]

sound, broken, Adapter = build(__file__, EDITS)


class Rows:
    """Random access: sample i is i."""

    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return i


def scenario(pl):
    first = pl.Loader(Rows(10), 4, tail="rollover")
    list(first)
    state = first.state_dict()
    del state["carry"]
    again = pl.Loader(Rows(10), 4, tail="rollover")
    try:
        again.load_state_dict(state)
    except pl.StateRefused:
        return "refused"
    return list(again) == list(first)



def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
