"""The seeds of a stream's batch come from a count that begins at the lane's snapshot.

The samples of a resumed stream are right, and what they draw is what the first batches drew.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import tideway
import tideway_bench
from tideway_edited import edited

BREAKS = ("VAMB-1", "VOWN-1")
EDITS = [
    (
        "tideway_lanes.py",
        'place = ("stream", ticket["seed"], ticket["epoch"], ticket["lane"], ordinal)',
        'place = ("stream", ticket["seed"], ticket["epoch"], ticket["lane"], '
        'ordinal - ticket["at"])',
    ),
]

Adapter = edited(EDITS)


def shows():
    """Return what the sound loader and this one give, in one play."""

    def play(lib):
        def make():
            return lib.Loader(tideway_bench.Cursor(12, lib), 2, seed=5)

        return tideway_bench.rest(make, 2, 0, 1)

    return tideway_bench.verdict(play(tideway), play(Adapter.lib))
