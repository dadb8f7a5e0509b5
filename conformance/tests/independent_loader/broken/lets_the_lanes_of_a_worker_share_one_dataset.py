"""In a worker the dataset is not copied for each lane, since the process has a copy of its own.

Whoever resumes with fewer workers than lanes, or keeps workers from epoch to epoch, gets datasets
that another lane or the last epoch has moved on.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import tideway
import tideway_bench
from tideway_edited import edited

BREAKS = ("ELASTIC-1", "WORKERS-1", "WORKERS-2")
EDITS = [
    (
        "tideway_lanes.py",
        "            self.data = copy.deepcopy(dataset)\n",
        '            self.data = dataset if spec.get("forked") else copy.deepcopy(dataset)\n',
    ),
    (
        "tideway_workers.py",
        "args=(theirs, dataset, spec), daemon=True)",
        'args=(theirs, dataset, spec | {"forked": True}), daemon=True)',
    ),
]
Adapter = edited(EDITS)


def play(lib):
    """Save with two workers, and resume with one."""
    loader = lib.Loader(tideway_bench.Counter(12, lib), 2, seed=7, workers=2)
    head = tideway_bench.epoch(loader, 2)
    state = loader.state_dict()
    loader.close()
    loader = lib.Loader(tideway_bench.Counter(12, lib), 2, seed=7, workers=1)
    loader.load_state_dict(state)
    tail = tideway_bench.epoch(loader)
    loader.close()
    return head + tail


def shows():
    """Return what the sound loader and this one give, in one play."""
    return tideway_bench.verdict(play(tideway), play(Adapter.lib))
