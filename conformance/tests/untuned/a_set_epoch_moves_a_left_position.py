"""Gives the position the epoch of ``set_epoch`` also within an epoch.

A program that breaks an epoch off, sets the next one and saves resumes in the middle of the next.
"""

from typing import Any

from edited import edited

FAMILY = "epochs"
BREAKS = ("RESUME-1", "RESUME-7", "DOC-19")
EDITS = [
    (
        "epoch/position.py",
        "        if position.batches or position.epoch >= self._epoch:\n",
        "        if position.epoch >= self._epoch:\n",
    ),
]


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    def loader() -> Any:
        return make(range(12), 4, shuffle=True, seed=1, collate_fn=list)

    left = loader()
    next(iter(left))
    left.set_epoch(1)
    resumed = loader()
    resumed.load_state_dict(left.state_dict())
    return list(resumed), list(loader())[1:]


Adapter = edited(EDITS)
