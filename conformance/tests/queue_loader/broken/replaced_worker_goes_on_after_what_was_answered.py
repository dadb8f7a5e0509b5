"""When a worker is replaced, its lanes are opened at the last batch delivered, and only the requests without an answer are sent again:
the answers that wait are counted twice by the lane.  Who meets it: replaced workers of streams that are ahead of the caller.
"""
import os
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, build, on, outcome, take

BREAKS = ('FAULT-8',)

EDITS = [
    ('loader.py',
     '            self.engine.forget_lane(lane, [(self.gen, "open", lane)] + [(self.gen, "step", lane, o) for o in range(made, asked)])\n',
     '            left = [o for o in range(made, asked) if (self.gen, "step", lane, o) not in self.engine.results]\n            self.engine.forget_lane(lane, [(self.gen, "open", lane)] + [(self.gen, "step", lane, o) for o in left])\n'),
    ('loader.py',
     '            for ordinal in range(made, asked):\n                self._step(lane, ordinal)\n',
     '            for ordinal in left:\n                self._step(lane, ordinal)\n'),
]

sound, broken, Adapter = build(__file__, EDITS)


def scenario(cz):
    class Dies:
        def __init__(self, path):
            self.path = path

        def __iter__(self):
            lane = cz.lane()
            for i in range(lane.number, 24, lane.count):
                if i == 7 and not os.path.exists(self.path):
                    open(self.path, "w").close()
                    os._exit(3)
                yield i

    with tempfile.TemporaryDirectory() as folder:
        loader = cz.Loader(Dies(os.path.join(folder, "died")), 2, seed=1, collate_fn=list, workers=1, method="fork", lanes=2,
                           prefetch=8, replace=1, timeout=8)
        got = on(iter(loader), 20)
        loader.close()
    return got


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
