"""Where a user's `state_dict` raises, the lane sends its last snapshot as that of the new batch.

Whoever's dataset cannot give its state for a moment, and is interrupted before the next snapshot,
resumes at the right batch with an older dataset and repeats its samples.
"""

import sys
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import tideway
import tideway_bench
from tideway_edited import edited

BREAKS = ("RESUME-7", "INTERVAL-1")
EDITS = [
    (
        "tideway_lanes.py",
        '        self.where = (ticket["lane"], ticket["lanes"])\n',
        '        self.where, self.last = (ticket["lane"], ticket["lanes"]), ticket["snap"]\n',
    ),
    (
        "tideway_lanes.py",
        '            return pickle.dumps((sorted(states), states.get("dataset"), states.get("iterator")))\n',
        '            parts = sorted(states), states.get("dataset"), states.get("iterator")\n'
        "            self.last = pickle.dumps(parts)\n"
        "            return self.last\n",
    ),
    (
        "tideway_lanes.py",
        "            warnings.warn(text, stacklevel=2)\n            return None\n",
        "            warnings.warn(text, stacklevel=2)\n            return self.last\n",
    ),
]
Adapter = edited(EDITS)


class Moody(tideway_bench.Cursor):
    """A stream that cannot give its state at one place."""

    def state_dict(self):
        """Return the position, or fail."""
        if self.it and self.it.at == 6:
            raise RuntimeError("a buffer is being filled")
        return tideway_bench.Cursor.state_dict(self)


def play(lib):
    """Save right after the batch whose state failed, load and play on."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return tideway_bench.rest(lambda: lib.Loader(Moody(14, lib), 2, seed=7), k=3, count=1)


def shows():
    """Return what the sound loader and this one give, in one play."""
    return tideway_bench.verdict(play(tideway), play(Adapter.lib))
