"""Lets a lane that lives on keep the epoch in which it was made.

With persistent workers every epoch draws the numbers of the first one.
"""

from typing import Any

from edited import edited

FAMILY = "workers"
BREAKS = ("WORKERS-2", "VAMB-2", "SEED-2", "SEED-3", "SEED-7", "VOWN-2", "EPOCH-2", "EPOCH-1")
EDITS = [
    (
        "lane/host.py",
        "        self._epoch = message.epoch\n",
        "        if not (self._lanes or self._waiting):\n            self._epoch = message.epoch\n",
    ),
]


def shows(play: Any) -> Any:
    plan = play(n=8, batch_size=2, draws=("own",), workers=1)
    return plan.whole(epochs=2, persistent=True), plan.whole(epochs=2)


Adapter = edited(EDITS)
