"""Uses one side for both halves of the network: each order is a permutation, but another one.

A state from another implementation continues with other samples than it would have there.
"""

from typing import Any

from edited import edited

FAMILY = "orders"
BREAKS = ("ORDER-4", "DOC-11")
EDITS = [("format/permutation.py", "self._b = -(-n // self._a)", "self._b = self._a")]


def shows(play: Any) -> Any:
    from midepoch.format.permutation import Permutation

    return Permutation(10007, 1).indices(0, 5), [9987, 4728, 7115, 7792, 4050]


Adapter = edited(EDITS)
