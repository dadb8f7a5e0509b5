"""Takes any loaded state for one between two passes: a pass that ends at once begins again.

A state from the last full batch of a stream, where the end was not seen yet, repeats the epoch.
"""

from typing import Any

from edited import edited

FAMILY = "lanes"
BREAKS = ("EPOCH-3", "DOC-10", "RESUME-7")
EDITS = [
    (
        "lane/lane.py",
        'loaded=entry.ordinal <= 0 and "dataset" in entry.stated',
        'loaded="dataset" in entry.stated',
    ),
]


def shows(play: Any) -> Any:
    plan = play(kind="stateful_iterable", n=8, batch_size=2)
    life = plan.open()
    life.take(4)
    return plan.open(life.state()).rest(), []


Adapter = edited(EDITS)
