"""A position keeps the order it has computed when the caller names another epoch for it.

Whoever loads a shuffled state between two epochs and then names a later epoch trains on the order
of the loaded epoch under the name of the other one.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import tideway
import tideway_bench
from tideway_edited import edited

BREAKS = ("EPOCH-8", "RESUME-7")
EDITS = [
    (
        "tideway_epochs.py",
        "        return Run(\n"
        "            self.shop,\n"
        "            self.seed,\n"
        "            self.lanes,\n"
        "            self.epoch,\n"
        "            self.delivered,\n"
        "            self.carried,\n"
        "            self.turn,\n"
        "            tracks,\n"
        "        )\n",
        "        again = Run(\n"
        "            self.shop,\n"
        "            self.seed,\n"
        "            self.lanes,\n"
        "            self.epoch,\n"
        "            self.delivered,\n"
        "            self.carried,\n"
        "            self.turn,\n"
        "            tracks,\n"
        "        )\n"
        "        again.order = self.order  # the check of the state has computed it already\n"
        "        return again\n",
    ),
    (
        "tideway.py",
        "            self._run.epoch, self._run.order = epoch, None\n",
        "            self._run.epoch = epoch\n",
    ),
]
Adapter = edited(EDITS)


def play(lib):
    """Save at an epoch's end, load, and name a later epoch."""
    first = lib.Loader(tideway_bench.Map(9, lib), 2, shuffle=True, seed=7)
    tideway_bench.epoch(first)
    second = lib.Loader(tideway_bench.Map(9, lib), 2, shuffle=True, seed=7)
    second.load_state_dict(first.state_dict())
    second.set_epoch(4)
    return tideway_bench.epochs(second, 2)


def shows():
    """Return what the sound loader and this one give, in one play."""
    return tideway_bench.verdict(play(tideway), play(Adapter.lib))
