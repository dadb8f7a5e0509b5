"""Carries only indices of the epoch's own order into the next one.

If a batch needs more samples than two epochs have, what the first one left over is lost.
"""

from typing import Any

from edited import edited

FAMILY = "tails"
BREAKS = ("EPOCH-7", "EPOCH-6")
EDITS = [
    (
        "sampling/batches.py",
        "tuple(self._indices(self._end, self._total)) if ended else ()",
        "tuple(self._own(max(0, self._end - self._shift), self._length)) if ended else ()",
    ),
]


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    loader = make(range(3), 8, last_batch="rollover", seed=1, collate_fn=list, shuffle=True)
    epochs = [[sorted(batch) for batch in loader] for _ in range(3)]
    return [len(epoch) for epoch in epochs], [0, 0, 1]


Adapter = edited(EDITS)
