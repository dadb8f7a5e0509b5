"""Walks on from indices above the length alone, and not from the length itself.

One sample of a large dataset is missing in each shuffled epoch, and an index beyond the last one
is asked for in its place.
"""

from typing import Any

from edited import edited

FAMILY = "orders"
BREAKS = ("ORDER-1", "ORDER-4", "BASIS-3")
EDITS = [
    (
        "format/permutation.py",
        "        outside = np.flatnonzero(x >= np.uint64(self.n))\n",
        "        outside = np.flatnonzero(x > np.uint64(self.n))\n",
    ),
    (
        "format/permutation.py",
        "            outside = outside[x[outside] >= np.uint64(self.n)]\n",
        "            outside = outside[x[outside] > np.uint64(self.n)]\n",
    ),
]


class Echo:
    """Gives the index that it was asked for."""

    def __len__(self) -> int:
        return 5000

    def __getitem__(self, index: int) -> int:
        return index


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader
    loader = make(Echo(), 100, shuffle=True, seed=1, collate_fn=list)
    return sorted(index for batch in loader for index in batch), list(range(5000))


Adapter = edited(EDITS)
