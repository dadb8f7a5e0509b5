"""The streams of a map-style batch are seeded from the sum of its epoch and its number.

Whoever augments at random gets, in each epoch, the numbers of the epoch before, one batch
earlier.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import tideway
import tideway_bench
from tideway_edited import edited

BREAKS = ("VAMB-2", "VOWN-2")
EDITS = [
    (
        "tideway_lanes.py",
        '            place = ("map", ticket["seed"], ticket["epoch"], number)\n',
        '            place = ("map", ticket["seed"], ticket["epoch"] + number)\n',
    ),
]
Adapter = edited(EDITS)


def play(lib):
    """Return how many values of three epochs are met again in another place."""
    loader = lib.Loader(tideway_bench.Map(12, lib), 2, shuffle=True, seed=7)
    drawn = [row[1:] for batches in tideway_bench.epochs(loader, 3) for b in batches for row in b]
    return len(drawn) - len({tuple(values) for values in drawn})


def shows():
    """Return what the sound loader and this one give, in one play."""
    return tideway_bench.verdict(play(tideway), play(Adapter.lib))
