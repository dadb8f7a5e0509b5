"""Epochs after a loaded one have as many lanes as the loader would have had, not as many as the state.

Whoever resumes a stream with another number of workers and lets the loader choose the lanes gets
all later epochs in other batches than the run would have had.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import tideway
import tideway_bench
from tideway_edited import edited

BREAKS = ("EPOCH-1", "ELASTIC-1")
EDITS = [
    (
        "tideway.py",
        "        self._named, self._run = None, Run(self._shop, seed, lanes, 0)\n",
        "        self._lanes = lanes\n"
        "        self._named, self._run = None, Run(self._shop, seed, lanes, 0)\n",
    ),
    (
        "tideway.py",
        "        return Run(self._shop, self._run.seed, self._run.lanes, epoch, carried=carried)\n",
        "        return Run(self._shop, self._run.seed, self._lanes, epoch, carried=carried)\n",
    ),
]
Adapter = edited(EDITS)


def play(lib):
    """Save with two workers, and resume without any."""
    loader = lib.Loader(tideway_bench.Cursor(11, lib), 2, seed=7, workers=2)
    head = tideway_bench.epoch(loader, 3)
    state = loader.state_dict()
    loader.close()
    loader = lib.Loader(tideway_bench.Cursor(11, lib), 2, seed=7)
    loader.load_state_dict(state)
    return [head, *tideway_bench.epochs(loader, 2)]


def shows():
    """Return what the sound loader and this one give, in one play."""
    return tideway_bench.verdict(play(tideway), play(Adapter.lib))
