"""A single lane uses the dataset itself instead of a copy of its own.

A dataset that keeps something from epoch to epoch then goes on with it in the run, and a resume
into a later epoch, or a load into a used loader, differs.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import tideway
import tideway_bench
from tideway_edited import edited

BREAKS = ("EPOCH-2", "EPOCH-4", "RESUME-6")
EDITS = [
    (
        "tideway_lanes.py",
        "self.data = copy.deepcopy(dataset)",
        'self.data = copy.deepcopy(dataset) if ticket["lanes"] > 1 else dataset',
    ),
]

Adapter = edited(EDITS)


def shows():
    """Return what the sound loader and this one give, in one play."""

    def play(lib):
        def make():
            return lib.Loader(tideway_bench.Counter(6, lib, draws=False), 2, seed=5)

        whole = tideway_bench.epochs(make(), 3)
        return whole[1] == tideway_bench.rest(make, 0, 1, 1)[0], whole[2] == tideway_bench.rest(
            make, 0, 2, 1
        )[0]

    return tideway_bench.verdict(play(tideway), play(Adapter.lib))
