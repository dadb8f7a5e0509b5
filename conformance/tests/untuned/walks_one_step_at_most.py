"""Walks out of the surplus once, and not until the index is in range.

With some keys and lengths an epoch asks its dataset for a sample that it does not have.
"""

from typing import Any

from edited import edited

FAMILY = "orders"
BREAKS = ("ORDER-4", "ORDER-1", "BASIS-3", "BASIS-1")
EDITS = [
    ("format/permutation.py", "        while outside.size:", "        if outside.size:"),
]


def shows(play: Any) -> Any:
    from midepoch.format.permutation import Permutation

    orders = [Permutation(10007, key).indices(0, 10007) for key in range(20)]
    return [key for key in range(20) if max(orders[key]) >= 10007], []


Adapter = edited(EDITS)
