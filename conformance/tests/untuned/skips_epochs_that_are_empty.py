"""Skips an epoch that is empty from its beginning, as if it were an empty rest.

Under ``empty_rest="skip"`` and rollover, a loop over the epochs misses those that only carry.
"""

from typing import Any

from edited import edited

FAMILY = "tails"
BREAKS = ("BASIS-1", "WORKERS-2")
EDITS = [
    (
        "loader.py",
        '        if resumed and self._options.empty_rest == "skip":\n',
        '        if self._options.empty_rest == "skip":\n',
    ),
]


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader
    loader = make(range(3), 4, last_batch="rollover", empty_rest="skip", collate_fn=list, seed=1)
    return [list(loader) for _ in range(3)], [[], [[0, 1, 2, 0]], [[1, 2, 0, 1]]]


Adapter = edited(EDITS)
