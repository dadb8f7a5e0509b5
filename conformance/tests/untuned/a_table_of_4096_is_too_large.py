"""Takes the network for an order of exactly 4096 samples, and not the table.

An order that another implementation has begun goes on differently here, at one length alone.
"""

from typing import Any

from edited import edited

FAMILY = "orders"
BREAKS = ("ORDER-3", "DOC-11")
EDITS = [("format/permutation.py", "if n <= FISHER_YATES_MAX:", "if n < FISHER_YATES_MAX:")]


def shows(play: Any) -> Any:
    from midepoch.format import permutation

    found = permutation.Permutation(4096, 7).indices(0, 4096)
    return found == permutation._fisher_yates(4096, 7), True


Adapter = edited(EDITS)
