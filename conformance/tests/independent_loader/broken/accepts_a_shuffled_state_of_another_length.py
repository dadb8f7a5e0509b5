"""The lengths of the two plans are not compared, because datasets grow.

Within a shuffled epoch the other length gives another permutation: samples come twice, and others
never.
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
        "for key in mine if plan[key] != mine[key]]",
        'for key in mine if plan[key] != mine[key] and key != "length"]',
    ),
]

Adapter = edited(EDITS)


def shows():
    """Return what the sound loader and this one give, in one play."""

    def play(lib):
        first = lib.Loader(tideway_bench.Map(12, lib, draws=False), 2, seed=5, shuffle=True)
        head = tideway_bench.epoch(first, 3)
        second = lib.Loader(tideway_bench.Map(13, lib, draws=False), 2, seed=5, shuffle=True)
        try:
            second.load_state_dict(first.state_dict())
        except lib.PlanError:
            return "PlanError"
        return sorted(row[0] for batch in head + tideway_bench.epoch(second) for row in batch)

    return tideway_bench.verdict(play(tideway), play(Adapter.lib))
