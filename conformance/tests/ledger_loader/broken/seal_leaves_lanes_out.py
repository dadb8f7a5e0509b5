"""The seal of a state does not cover its lanes, whose snapshots are large. Who meets it: tools that filter or truncate
checkpoints, an entry of a list with them.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, Walk, build, outcome, take

BREAKS = ('REFUSE-2',)

EDITS = [
    ('ledger.py',
     '    rest = {k: v for k, v in state.items() if k != "seal"}\n',
     '    rest = {k: v for k, v in state.items() if k not in ("seal", "lanes")}  # snapshots are large, and pickle checks them\n'),
]

sound, broken, Adapter = build(__file__, EDITS)


class Part:
    def __init__(self, info):
        self.info = info

    def __iter__(self):
        lane, lanes = self.info()
        return iter(range(lane, 24, lanes))


def scenario(dk):
    first, again = (dk.Loader(Part(dk.lane_info), 2, seed=1, lanes=2) for _ in range(2))
    take(iter(first), 3)
    state = first.state_dict()
    del state["lanes"][1]
    again.load_state_dict(state)
    return list(again)


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
