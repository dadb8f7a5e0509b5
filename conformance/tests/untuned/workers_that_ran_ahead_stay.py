"""Keeps persistent workers after a break although their datasets have run ahead.

A dataset whose generator lives on has drawn for batches that nobody saw.
"""

from typing import Any

from edited import edited

FAMILY = "workers"
BREAKS = ("WORKERS-1", "WORKERS-2", "RESUME-7", "EPOCH-5", "EPOCH-2", "RESUME-4")
EDITS = [
    (
        "epoch/iterator.py",
        "usable = self._died is None and (clean or not self._execution.stateful)",
        "usable = self._died is None",
    ),
    (
        "epoch/pool.py",
        "return self.between.idle is not None and self.between.clean",
        "return self.between.idle is not None",
    ),
]


def shows(play: Any) -> Any:
    fields = {"kind": "stateful_iterable", "draws": ("private python",), "n": 12, "batch_size": 2}
    plan = play(**fields, workers=1, persistent=True)
    runs = []
    for prefetch in (4, 1):
        life = plan.open(prefetch=prefetch)
        life.broken(1)
        runs.append(life.rest())
        life.close()
    plan2 = play(**fields, lanes=1)
    right = plan2.open()
    right.broken(1)
    return runs[0], right.rest()


Adapter = edited(EDITS)
