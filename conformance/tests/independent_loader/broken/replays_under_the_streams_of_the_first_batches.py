"""A replay seeds its batches by their number since the snapshot, not by their number in the epoch.

Whoever's dataset keeps what it draws, such as a shuffle buffer, and takes snapshots at an
interval gets another state after a resume than the run had.
"""

import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import tideway
import tideway_bench
from tideway_edited import edited

BREAKS = ("INTERVAL-1", "VAMB-1", "VOWN-1")
EDITS = [
    (
        "tideway_lanes.py",
        "        with self._place(ordinal):\n            try:\n                rows, _ =",
        "        with self._place(done):\n            try:\n                rows, _ =",
    ),
]
Adapter = edited(EDITS)


class Walk(tideway_bench.Map):
    """Random access to the sums of all that was drawn so far."""

    total = 0.0

    def __getitem__(self, i):
        self.total += random.random()
        return [i, self.total]

    def state_dict(self):
        """Return the sum."""
        return {"total": self.total}

    def load_state_dict(self, state):
        """Go on from a sum."""
        self.total = state["total"]


def play(lib):
    """Save two batches after a snapshot, load and play on."""
    return tideway_bench.rest(
        lambda: lib.Loader(Walk(16, lib), 2, seed=7, snapshot_every=3), k=5, count=1
    )


def shows():
    """Return what the sound loader and this one give, in one play."""
    return tideway_bench.verdict(play(tideway), play(Adapter.lib))
