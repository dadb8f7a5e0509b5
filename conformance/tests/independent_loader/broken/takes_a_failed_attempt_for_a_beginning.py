"""An epoch counts as begun when its lanes are opened, not when its first batch is delivered.

Whoever meets an error or an interrupt while a resume restores its place, and iterates again,
begins the next epoch and loses the rest of the loaded one.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import tideway
import tideway_bench
from tideway_edited import edited

BREAKS = ("FAULT-13", "RESUME-7")
EDITS = [
    (
        "tideway_epochs.py",
        "            if self.engine is None:\n                self.open()\n",
        "            if self.engine is None:\n"
        "                self.begun = True\n"
        "                self.open()\n",
    ),
]
Adapter = edited(EDITS)


class Shaky(tideway_bench.Cursor):
    """A stream that can fail for a moment."""

    fails = False

    def row(self, i):
        """Return one sample, or fail for once."""
        if Shaky.fails:
            Shaky.fails = False
            raise OSError("the disk is away for a moment")
        return tideway_bench.Cursor.row(self, i)


def play(lib):
    """Load a state whose replay fails once, and iterate again."""
    loader = lib.Loader(Shaky(11, lib), 2, seed=7, snapshot_every=4)
    tideway_bench.epoch(loader, 3)
    again = lib.Loader(Shaky(11, lib), 2, seed=7, snapshot_every=4)
    again.load_state_dict(loader.state_dict())
    Shaky.fails = True
    try:
        found = [tideway_bench.epoch(again)]
    except OSError as exc:
        found = [str(exc)]
    return found + tideway_bench.epochs(again, 1)


def shows():
    """Return what the sound loader and this one give, in one play."""
    return tideway_bench.verdict(play(tideway), play(Adapter.lib))
