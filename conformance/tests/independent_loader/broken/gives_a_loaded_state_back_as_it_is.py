"""Until the first batch after a load, taking a state gives the loaded one, with the caller's own parts.

Whoever empties a checkpoint's tree after the load, to free its memory, and is preempted before
the first batch saves the emptied tree.
"""

import copy
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import tideway
import tideway_bench
from tideway_edited import edited

BREAKS = ("STATE-5", "STATE-2")
EDITS = [
    (
        "tideway.py",
        "        self._named, self._run = None, Run(self._shop, seed, lanes, 0)\n",
        "        self._loaded = None\n"
        "        self._named, self._run = None, Run(self._shop, seed, lanes, 0)\n",
    ),
    (
        "tideway.py",
        "        run, lanes = self._run, []\n",
        "        run, lanes = self._run, []\n"
        '        if self._loaded and not run.begun and run.epoch == self._loaded["epoch"]:\n'
        "            return dict(self._loaded)  # still pending\n",
    ),
    (
        "tideway.py",
        "        self._run, self._named = run, None\n",
        "        self._run, self._named, self._loaded = run, None, state\n",
    ),
]
Adapter = edited(EDITS)


def play(lib):
    """Load a state, change the tree that was loaded, and take a state at once."""
    loader = lib.Loader(tideway_bench.Cursor(11, lib), 2, seed=7)
    tideway_bench.epoch(loader, 3)
    state = loader.state_dict()
    want = copy.deepcopy(state)
    again = lib.Loader(tideway_bench.Cursor(11, lib), 2, seed=7)
    again.load_state_dict(state)
    state["lanes"][0]["dataset"].clear()
    return again.state_dict() == want


def shows():
    """Return what the sound loader and this one give, in one play."""
    return tideway_bench.verdict(play(tideway), play(Adapter.lib))
