"""The lane whose turn it is follows from the number of steps, as if the lanes had always been taken in turn: a whole of
several ranks' states has taken several lanes in each step. Who meets it: lanes that are dealt to ranks, resumed with
another number of ranks.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, Walk, build, outcome, take

BREAKS = ('WORLD-10',)

EDITS = [
    ('desk.py',
     '        going = [(s.made, lane) for lane, s in self.ledger.stands.items() if not s.ended]\n        return min(going)[1] if going else None\n',
     '        n = len(self.own)\n        turns = (self.own[(self.ledger.batches + k) % n] for k in range(n))\n        return next((lane for lane in turns if not self.ledger.stands[lane].ended), None)\n'),
]

sound, broken, Adapter = build(__file__, EDITS)


class Part:
    def __init__(self, info):
        self.info = info

    def __iter__(self):
        lane, lanes = self.info()
        return iter(range(lane, 24, lanes))


def scenario(dk):
    def loader(rank, world):
        return dk.Loader(Part(dk.lane_info), 2, seed=1, lanes=4, ranks="dealt", rank=rank, world=world)

    ranks, found = [loader(r, 2) for r in range(2)], []
    for rank in ranks:
        found.append(take(iter(rank), 1))
    alone = loader(0, 1)
    alone.load_state_dict(dk.merge([rank.state_dict() for rank in ranks]))
    return found, list(alone)


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
