"""What is left over rolls over only from an epoch that has delivered a batch.

Whoever rolls over a dataset that is smaller than a batch loses the samples of each epoch that
does not fill one, and never sees a batch.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import tideway
import tideway_bench
from tideway_edited import edited

BREAKS = ("EPOCH-6", "EPOCH-7")
EDITS = [
    (
        "tideway.py",
        "        self._run = self._fresh(self._after(), run.left_over())\n",
        "        self._run = self._fresh(self._after(), run.left_over() if run.delivered else ())\n",
    ),
]
Adapter = edited(EDITS)


def play(lib):
    """Roll five samples over into batches of eight."""
    loader = lib.Loader(tideway_bench.Map(5, lib), 8, shuffle=True, seed=7, tail="rollover")
    return tideway_bench.epochs(loader, 5)


def shows():
    """Return what the sound loader and this one give, in one play."""
    return tideway_bench.verdict(play(tideway), play(Adapter.lib))
