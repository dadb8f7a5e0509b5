"""StopIteration is turned into an error for `__getitem__`, but not for `__getitems__`.

Whoever fetches many rows at once from a dataset that calls `next` on an exhausted reader gets a
shorter epoch without a word.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import tideway
import tideway_bench
from tideway_edited import edited

BREAKS = ("FAULT-3", "FAULT-2")
EDITS = [
    (
        "tideway_lanes.py",
        "            try:\n"
        '                if callable(getattr(self.data, "__getitems__", None)):\n'
        "                    return list(self.data.__getitems__(list(indices))), False\n"
        "                return [self.data[i]",
        '            if callable(getattr(self.data, "__getitems__", None)):\n'
        "                return list(self.data.__getitems__(list(indices))), False\n"
        "            try:\n"
        "                return [self.data[i]",
    ),
]
Adapter = edited(EDITS)


class Many(tideway_bench.Map):
    """Random access to many rows at once, one of which is broken."""

    def __getitem__(self, i):
        if i == 5:
            next(iter(()))
        return self.row(i)

    def __getitems__(self, indices):
        return [self[i] for i in indices]


def play(lib):
    """Deliver an epoch with a broken row."""
    found = []
    try:
        for batch in lib.Loader(Many(10, lib, draws=False), 2, seed=7):
            found.append(batch)
    except RuntimeError as exc:
        found.append(str(exc))
    return found


def shows():
    """Return what the sound loader and this one give, in one play."""
    return tideway_bench.verdict(play(tideway), play(Adapter.lib))
