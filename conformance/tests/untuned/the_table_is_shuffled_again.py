"""Keeps the table of a small permutation, to save its memory, and shuffles it again as it lies.

The first order of a process is right. Each later one follows from those before it, which a process
that resumes in a later epoch has not had.
"""

from typing import Any

from edited import edited

FAMILY = "orders"
BREAKS = ("EPOCH-4", "EPOCH-1", "RESUME-1", "ORDER-3", "ORDER-6", "BASIS-2")
EDITS = [
    (
        "format/permutation.py",
        "    table = list(range(n))\n",
        "    table = _TABLES.setdefault(n, list(range(n)))\n",
    ),
    (
        "format/permutation.py",
        "_MAX_N = 2**63 - 1\n",
        "_MAX_N = 2**63 - 1\n_TABLES: dict[int, list[int]] = {}\n",
    ),
]


def shows(play: Any) -> Any:
    from midepoch.format.permutation import Permutation

    for key in (1, 2):
        order = Permutation(8, key).indices(0, 8)
    words = [(2 + (8 - i) * 0x9E37_79B9_7F4A_7C15) & (2**64 - 1) for i in range(7, 0, -1)]
    right = list(range(8))
    for i, word in zip(range(7, 0, -1), words, strict=True):
        x = ((word ^ (word >> 30)) * 0xBF58_476D_1CE4_E5B9) & (2**64 - 1)
        x = ((x ^ (x >> 27)) * 0x94D0_49BB_1331_11EB) & (2**64 - 1)
        j = ((x ^ (x >> 31)) * (i + 1)) >> 64
        right[i], right[j] = right[j], right[i]
    return order, right


Adapter = edited(EDITS)
