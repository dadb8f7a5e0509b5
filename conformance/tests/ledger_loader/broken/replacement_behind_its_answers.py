"""What a dead worker had answered is kept and not asked for again, but its lanes are restored to what was delivered: a
lane of the replacement is behind by the answers kept. Who meets it: streams with restarts and several workers, when
one dies while answers of it wait for a slower one.
"""
import tempfile
import time
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, Walk, build, outcome, take

BREAKS = ('FAULT-8',)

EDITS = [
    ('desk.py',
     '                self.issued[lane] = self.ledger.stands[lane].made\n                self.ready[lane].clear()\n        self.load[w] = 0\n',
     '                self.issued[lane] = self.ledger.stands[lane].made + len(self.ready[lane])  # answered already\n        self.load[w] = 0\n'),
]

sound, broken, Adapter = build(__file__, EDITS)


class Dying:
    """Two shares: the first is slow at its begin, the second dies once."""

    def __init__(self, mark, info):
        self.mark, self.info = mark, info

    def __iter__(self):
        lane, lanes = self.info()
        for i in range(lane, 24, lanes):
            if i == 0:
                time.sleep(0.5)
            if i == 11 and not os.path.exists(self.mark):
                open(self.mark, "w").close()
                os._exit(3)
            yield i


def scenario(dk):
    with tempfile.TemporaryDirectory(dir=os.environ.get("MIDEPOCH_EDITED_COPIES")) as folder:
        data = Dying(os.path.join(folder, "died"), dk.lane_info)
        loader = dk.Loader(data, 2, seed=1, workers=2, prefetch=4, restarts=1)
        try:
            return list(loader)
        finally:
            loader.close()


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
