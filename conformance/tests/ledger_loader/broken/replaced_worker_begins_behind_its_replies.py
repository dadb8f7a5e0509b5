"""When a worker is replaced, the replies of its lanes that wait for their turn are kept, but the lanes are restored to what
was delivered: the next tickets are answered with rows that come a second time.  Who meets it: streams with
restarts, where one lane is ahead of a slower one when its worker dies.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, Walk, build, outcome, take

BREAKS = ('FAULT-8',)

EDITS = [
    ('desk.py',
     '                self.issued[lane] = self.ledger.stands[lane].made\n                self.ready[lane].clear()\n',
     '                self.issued[lane] = self.ledger.stands[lane].made + len(self.ready[lane])\n'),
]

sound, broken, Adapter = build(__file__, EDITS)


class Dying:
    """Lane 0 is slow to begin; lane 1 dies once, at its third batch."""

    def __init__(self, flag, info):
        self.flag, self.info = flag, info

    def __iter__(self):
        import time
        lane, lanes = self.info()
        for i in range(lane, 16, lanes):
            if i == 0:
                time.sleep(0.7)
            if i == 9 and not os.path.exists(self.flag):
                open(self.flag, "w").close()
                time.sleep(0.2)
                os._exit(3)
            yield i


def scenario(dk):
    import tempfile
    with tempfile.TemporaryDirectory() as folder:
        loader = dk.Loader(Dying(os.path.join(folder, "flag"), dk.lane_info), 2, workers=2, prefetch=4, restarts=1)
        found = list(loader)
        loader.close()
    return found


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
