"""Of the plan only those settings are compared that are on in the loader.

Whoever forgets `shuffle=True` at a restart trains the rest of the epoch on samples that were
delivered before, and misses others.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import tideway
import tideway_bench
from tideway_edited import edited

BREAKS = ("REFUSE-3",)
EDITS = [
    (
        "tideway.py",
        "        other = [key for key in mine if plan[key] != mine[key]]\n",
        "        other = [key for key in mine if mine[key] and plan[key] != mine[key]]\n",
    ),
]
Adapter = edited(EDITS)


def play(lib):
    """Load the state of a shuffled run into a loader that does not shuffle."""
    loader = lib.Loader(tideway_bench.Map(9, lib, draws=False), 2, shuffle=True, seed=7)
    head = tideway_bench.epoch(loader, 2)
    again = lib.Loader(tideway_bench.Map(9, lib, draws=False), 2, seed=7)
    try:
        again.load_state_dict(loader.state_dict())
    except ValueError:
        return "refused"
    return sorted(row[0] for batch in head + tideway_bench.epoch(again) for row in batch)


def shows():
    """Return what the sound loader and this one give, in one play."""
    return tideway_bench.verdict(play(tideway), play(Adapter.lib))
