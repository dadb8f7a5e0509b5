"""A lane asks whether its dataset's state is true, not whether there is one.

Datasets whose state may be None, 0 or an empty list begin from their beginning: a list of what is
left makes the whole epoch come again.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import tideway
import tideway_bench
from tideway_edited import edited

BREAKS = ("STATE-6", "EPOCH-3", "RESUME-1")
EDITS = [
    (
        "tideway_lanes.py",
        'if "dataset" in has:',
        "if of_dataset:",
    ),
]

Adapter = edited(EDITS)


def shows():
    """Return what the sound loader and this one give, in one play."""

    class Left(tideway_bench.Stream):
        """Its state is the list of what it has left."""

        left = None

        def __iter__(self):
            lane, lanes = self.info()
            if self.left is None:
                self.left = list(range(lane, self.n, lanes))
            while self.left:
                yield self.row(self.left.pop(0))
            self.left = None

        def state_dict(self):
            return self.left

        def load_state_dict(self, state):
            self.left = state

    def play(lib):
        def make():
            return lib.Loader(Left(8, lib), 2, seed=5)

        return tideway_bench.rest(make, 4, 0, 2)

    return tideway_bench.verdict(play(tideway), play(Adapter.lib))
