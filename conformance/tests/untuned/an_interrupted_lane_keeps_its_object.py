"""Restores lanes after an interrupt to the datasets that they have, and not to new copies.

A dataset with a generator of its own has drawn for samples that nobody saw.
"""

from typing import Any

from edited import edited

FAMILY = "faults"
BREAKS = ("FAULT-12", "RESUME-7")
EDITS = [
    (
        "epoch/iterator.py",
        "        self._broken = True\n        self._discard()\n        self._interrupted()\n",
        "        self._broken = True\n        self._discard()\n",
    ),
]


def shows(play: Any) -> Any:
    fields = {"kind": "stateful_iterable", "draws": ("private python",), "lanes": 2}
    plan = play(**fields, n=12, batch_size=3, interval=100)
    right = plan.whole()[0]
    plan.interrupt_at(2)
    life = plan.open()
    return [one for one in life.tolerant() if one != "KeyboardInterrupt"], right


Adapter = edited(EDITS)
