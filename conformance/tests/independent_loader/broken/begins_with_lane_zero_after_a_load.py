"""A run that goes on from a loaded state forgets whose turn it is, so lane 0 comes first.

Users of streams with two or more lanes get the right samples in another order, if they saved in
the middle of a round.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import tideway
import tideway_bench
from tideway_edited import edited

BREAKS = ("RESUME-1", "RESUME-2", "EPOCH-4")
EDITS = [
    (
        "tideway_epochs.py",
        "            self.turn,\n            tracks,\n",
        "            tracks=tracks,\n",
    ),
]

Adapter = edited(EDITS)


def shows():
    """Return what the sound loader and this one give, in one play."""

    def play(lib):
        def make():
            return lib.Loader(tideway_bench.Cursor(11, lib), 2, seed=5, lanes=2)

        return tideway_bench.rest(make, 1, 0, 1)

    return tideway_bench.verdict(play(tideway), play(Adapter.lib))
