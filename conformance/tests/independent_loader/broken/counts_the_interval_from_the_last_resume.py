"""A lane takes its snapshots at every n-th batch since it was opened, not at every n-th of the epoch.

Whoever is preempted more often than the interval comes round never gets another snapshot, and
replays more at each resume.
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
        "tideway_lanes.py",
        "        self.spec, self.ticket, self.ended, self.iterator = spec, ticket, False, None\n",
        "        self.spec, self.ticket, self.ended, self.iterator = spec, ticket, False, None\n"
        "        self.made = 0\n",
    ),
    (
        "tideway_lanes.py",
        '            every = self.ticket["every"]\n'
        "            snap = self._snapshot() if every and (ordinal + 1) % every == 0 and not ended else None\n",
        '            every = self.ticket["every"]\n'
        "            self.made += 1\n"
        "            snap = self._snapshot() if every and self.made % every == 0 and not ended else None\n",
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
    """Return how many samples each of a row of resumes fetches for three batches."""
    found, state = [], None
    for _ in range(6):
        loader = lib.Loader(Counted(60, lib), 2, seed=7, snapshot_every=4)
        if state is not None:
            loader.load_state_dict(state)
        Counted.fetched = 0
        tideway_bench.epoch(loader, 3)
        found.append(Counted.fetched)
        state = loader.state_dict()
    return found


def shows():
    """Return what the sound loader and this one give, in one play."""
    return tideway_bench.verdict(play(tideway), play(Adapter.lib))
