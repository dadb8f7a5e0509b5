"""The batches that lanes replay after a load are counted as if the snapshot came after them.

The first resume is right. A state taken after it, and before a lane's next snapshot, replays too
little, so samples come again: users with an interval of more than one batch of a lane, who are
interrupted twice in quick succession.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import tideway
import tideway_bench
from tideway_edited import edited

BREAKS = ("RESUME-2", "RESUME-3", "INTERVAL-1")
EDITS = [
    (
        "tideway_epochs.py",
        "            tickets[lane] = ticket\n",
        "            tickets[lane] = ticket\n"
        "            if self.lanes:  # the lane stands there now\n"
        "                track.at, track.since = first, 0\n",
    ),
]

Adapter = edited(EDITS)


def shows():
    """Return what the sound loader and this one give, in one play."""

    def play(lib):
        def make():
            return lib.Loader(tideway_bench.Cursor(16, lib), 2, seed=5, snapshot_every=3)

        return tideway_bench.rest(make, 4, 0, 1, again=1)

    return tideway_bench.verdict(play(tideway), play(Adapter.lib))
