"""Without a seed of the user's the loader draws one when it is first asked for a state or a batch.

Whoever gives no seed and saves before the first batch moves torch's global stream by saving, so
ranks that save at different times start from different weights or masks.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import tideway
import tideway_bench
import torch
from tideway_edited import edited

BREAKS = ("BASIS-5", "BASIS-4")
EDITS = [
    (
        "tideway.py",
        "        if seed is None:\n"
        "            seed = int(torch.empty((), dtype=torch.int64).random_())\n"
        "        lanes =",
        "        lanes =",
    ),
    (
        "tideway.py",
        "    def __iter__(self):\n        old = self._run\n",
        "    def _settle(self):\n"
        "        if self._run.seed is None:\n"
        "            self._run.seed = int(torch.empty((), dtype=torch.int64).random_())\n"
        "\n"
        "    def __iter__(self):\n"
        "        self._settle()\n"
        "        old = self._run\n",
    ),
    (
        "tideway.py",
        "    def _plan(self):\n",
        "    def _plan(self):\n        self._settle()\n",
    ),
]
Adapter = edited(EDITS)


def play(lib):
    """Make a loader, save before the first batch or not, draw a weight, and deliver an epoch."""
    found = []
    for saves in (False, True):
        tideway_bench.other_streams()
        loader = lib.Loader(tideway_bench.Map(6, lib), 2, shuffle=True)
        if saves:
            loader.state_dict()
        weight = float(torch.rand(()))
        found.append((weight, tideway_bench.epoch(loader)))
    return found[0] == found[1]


def shows():
    """Return what the sound loader and this one give, in one play."""
    return tideway_bench.verdict(play(tideway), play(Adapter.lib))
