"""Carries over only the indices that an epoch's own order leaves, and not those carried into it.

An epoch that has too few samples for a batch loses what was carried into it. A dataset with fewer
samples than half a batch never delivers any.
"""

from typing import Any

from edited import edited

FAMILY = "rollover"
BREAKS = ("EPOCH-6", "EPOCH-7")
EDITS = [
    (
        "sampling/batches.py",
        "        return OrderState(None, tuple(self._indices(self._end, self._total)) "
        "if ended else ())\n",
        """\
        start = max(0, self._end - self._shift)
        return OrderState(None, tuple(self._own(start, self._length)) if ended else ())
""",
    ),
]


def delivered() -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader
    loader = make(list(range(3)), 8, seed=1, last_batch="rollover", collate_fn=list)
    return [list(loader) for _ in range(6)]


RIGHT = [[], [], [[0, 1, 2, 0, 1, 2, 0, 1]], [], [], [[2, 0, 1, 2, 0, 1, 2, 0]]]


def shows(play: Any) -> Any:
    return delivered(), RIGHT


Adapter = edited(EDITS)
