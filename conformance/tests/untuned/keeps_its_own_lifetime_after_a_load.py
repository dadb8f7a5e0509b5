"""Lets the present execution decide how long a dataset lives, and not the loaded plan.

A state of a run with persistent workers continues differently without them, an epoch later.
"""

from typing import Any

from edited import edited

FAMILY = "workers"
BREAKS = ("ELASTIC-3", "ELASTIC-1", "RESUME-7")
EDITS = [
    (
        "epoch/position.py",
        "self.plan = replace(document.plan, data=here.data)",
        "self.plan = replace(here, seed=document.plan.seed, lanes=document.plan.lanes)",
    ),
]


def shows(play: Any) -> Any:
    fields = {"kind": "stateful_iterable", "draws": ("private python",), "n": 8, "batch_size": 2}
    plan = play(**fields, workers=1, persistent=True)
    life = plan.open()
    life.take(2)
    state = life.state()
    life.rest()
    resumed = plan.open(state, persistent=False)
    resumed.rest()
    return resumed.rest(), life.rest()


Adapter = edited(EDITS)
