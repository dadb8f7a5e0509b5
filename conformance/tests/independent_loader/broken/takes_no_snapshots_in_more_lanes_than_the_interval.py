"""The interval is divided among the lanes and rounded down to nothing where there are more of them.

Whoever reads a long stream with several workers at the default interval replays the whole epoch
up to the position at each resume.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import tideway
import tideway_bench
from tideway_edited import edited

BREAKS = ("COST-3",)
EDITS = [
    (
        "tideway_epochs.py",
        "        every = max(1, shop.every // stride) if shop.every else 0\n",
        "        every = shop.every // stride\n",
    ),
]
Adapter = edited(EDITS)


class Counted(tideway_bench.Cursor):
    """A stream that counts the samples that it is asked for."""

    fetched = 0

    def row(self, i):
        """Return one sample."""
        Counted.fetched += 1
        return tideway_bench.Cursor.row(self, i)


def play(lib):
    """Return how many samples the first batch after a resume takes, early and late."""
    found = []
    for batches in (2, 8, 14):
        loader = lib.Loader(Counted(40, lib), 2, seed=7, lanes=2)
        tideway_bench.epoch(loader, batches)
        again = lib.Loader(Counted(40, lib), 2, seed=7, lanes=2)
        again.load_state_dict(loader.state_dict())
        Counted.fetched = 0
        tideway_bench.epoch(again, 1)
        found.append(Counted.fetched)
    return found


def shows():
    """Return what the sound loader and this one give, in one play."""
    return tideway_bench.verdict(play(tideway), play(Adapter.lib))
