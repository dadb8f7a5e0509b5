"""The user's `setup` is left out where a lane's dataset is restored from a snapshot.

Whoever divides a Stateful stream among the lanes in `setup` gets undivided streams after a
resume, so that each lane delivers all samples.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import tideway
import tideway_bench
from tideway_edited import edited

BREAKS = ("RESUME-1", "RESUME-2")
EDITS = [
    (
        "tideway_lanes.py",
        '            if spec["setup"]:\n',
        '            if spec["setup"] and not ticket["snap"]:\n',
    ),
]
Adapter = edited(EDITS)


class Parted(tideway_bench.Stream):
    """A stream with a state whose part is set from outside."""

    at, part = 0, (0, 1)

    def __iter__(self):
        lane, lanes = self.part
        while lane + self.at * lanes < self.n:
            self.at += 1
            yield self.row(lane + (self.at - 1) * lanes)

    def state_dict(self):
        """Return the position."""
        return {"at": self.at}

    def load_state_dict(self, state):
        """Go on from a position."""
        self.at = state["at"]


def part(data, lane, lanes):
    """Tell a lane's copy its part."""
    data.part = lane, lanes


def play(lib):
    """Save in the middle, load and play on."""
    return tideway_bench.rest(
        lambda: lib.Loader(Parted(13, lib), 2, seed=7, lanes=2, setup=part), k=3
    )


def shows():
    """Return what the sound loader and this one give, in one play."""
    return tideway_bench.verdict(play(tideway), play(Adapter.lib))
