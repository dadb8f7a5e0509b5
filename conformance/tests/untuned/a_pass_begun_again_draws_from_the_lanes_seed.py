"""Begins a pass again where a loaded state was that of an end, and forgets to seed the batch anew.

The first batch of each lane after a restart between two epochs is augmented in another way.
"""

from typing import Any

from edited import edited

FAMILY = "random numbers"
BREAKS = ("SEED-3", "VAMB-1", "EPOCH-2", "EPOCH-3", "RESUME-7")
EDITS = [
    (
        "lane/lane.py",
        "        self._batch(self._ordinal)\n        renew()\n",
        "        renew()\n",
    ),
]


def shows(play: Any) -> Any:
    plan = play(kind="stateful_iterable", draws=("python",), n=8, batch_size=2)
    life = plan.open()
    life.rest()
    return plan.open(life.state()).rest(), plan.whole(epochs=2)[1]


Adapter = edited(EDITS)
