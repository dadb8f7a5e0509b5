"""After a load each worker begins with its batch `delivered // workers`, rounded down for all.

Users of map-style data with two or more workers get batches twice, if the number delivered is no
multiple of the workers.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import tideway
import tideway_bench
from tideway_edited import edited

BREAKS = ("RESUME-1", "ELASTIC-1")
EDITS = [
    (
        "tideway_epochs.py",
        "first = (self.delivered - lane + stride - 1) // stride",
        "first = self.delivered // stride",
    ),
]

Adapter = edited(EDITS)


def shows():
    """Return what the sound loader and this one give, in one play."""

    def play(lib):
        def make():
            return lib.Loader(
                tideway_bench.Map(15, lib, draws=False), 2, seed=5, shuffle=True, workers=2
            )

        return tideway_bench.rest(make, 3, 0, 2)

    return tideway_bench.verdict(play(tideway), play(Adapter.lib))
