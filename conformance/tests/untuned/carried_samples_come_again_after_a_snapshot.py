"""Begins with the samples that rolled over also where a sampler is restored in mid-epoch.

With a Stateful sampler a restart shows these samples twice, and all later batches are shifted.
"""

from typing import Any

from edited import edited

FAMILY = "tails"
BREAKS = ("EPOCH-6", "EPOCH-7", "EPOCH-4", "RESUME-7")
EDITS = [
    (
        "sampling/custom.py",
        "self._heads = list(self._carried) if self._index == 0 else []",
        "self._heads = list(self._carried)",
    ),
]


def shows(play: Any) -> Any:
    plan = play(n=14, batch_size=3, tail="rollover", sampler="stateful")
    life = plan.open()
    life.rest()
    life.take(2)
    return plan.open(life.state()).rest(), life.rest()


Adapter = edited(EDITS)
