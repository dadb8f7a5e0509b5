"""When the lanes of a dead worker are opened in a new one, only the steps that had not been answered are asked for again.  The lane
itself stands at the last batch delivered, so it makes the answered batches once more, under the next numbers.  This is right for
map-style lanes, whose steps name their samples.  Who meets it: streams with workers that die and are replaced, and a worker that was
ahead of the caller, who waits for a slower one.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import tempfile
import time

from _edit import build, outcome

BREAKS = ("FAULT-8",)

EDITS = [
    ("loader.py",
     """            self.engine.forget_lane(lane, [(self.gen, "open", lane)] + [(self.gen, "step", lane, o) for o in range(made, asked)])
""",
     """            missing = [o for o in range(made, asked) if (self.gen, "step", lane, o) not in self.engine.results]
            self.engine.forget_lane(lane, [(self.gen, "open", lane)] + [(self.gen, "step", lane, o) for o in missing])
"""),
    ("loader.py",
     "            for ordinal in range(made, asked):\n                self._step(lane, ordinal)\n",
     "            for ordinal in missing:\n                self._step(lane, ordinal)\n"),
]

sound, broken, Adapter = build(__file__, EDITS)


class Dying:
    """A stream of two lanes: the first is slow, and the process of the second dies once, ahead of it."""

    def __init__(self, flag, lane):
        self.flag, self.lane = flag, lane

    def __iter__(self):
        number = self.lane().number
        for i in range(number, 60, 2):
            if i == 0:
                time.sleep(0.5)  # the other lane runs ahead
            if i == 13 and os.path.exists(self.flag):
                os.unlink(self.flag)
                os._exit(3)
            yield i


def scenario(cz):
    def loader(flag, workers):
        return cz.Loader(Dying(flag, cz.lane), 2, seed=4, lanes=2, workers=workers, prefetch=6, method="fork", replace=2,
                         collate_fn=list, timeout=20)

    with tempfile.TemporaryDirectory() as folder:
        flag = os.path.join(folder, "flag")
        whole = list(loader(flag, 0))
        open(flag, "w").close()
        dying = loader(flag, 2)
        got = list(dying)
        dying.close()
    return got == whole


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
