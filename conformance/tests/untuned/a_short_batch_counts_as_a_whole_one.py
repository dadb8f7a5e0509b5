"""Counts the samples of each batch of a stream as the batch size says.

The number of samples in a state, by which a trainer reports its progress, is too large after a
lane's last batch.
"""

from typing import Any

from edited import edited

FAMILY = "states"
BREAKS = ("DOC-19",)
EDITS = [
    (
        "lane/lane.py",
        "            return samples, len(samples), True\n",
        "            return samples, self.spec.batch_size, True\n",
    ),
]


def shows(play: Any) -> Any:
    plan = play(kind="stateful_iterable", n=7, batch_size=3)
    life = plan.open()
    life.take(3)
    return life.state()["position"]["samples"], 7


Adapter = edited(EDITS)
