"""Walks the permutation's cycle one step at most when an element lies outside of the domain.

In most shuffles of more than 4096 samples some element takes two steps. The loader then gives an
index beyond the dataset's end, and a sample is missing.
"""

from typing import Any

from edited import edited
from torch.utils.data import Dataset

FAMILY = "order"
BREAKS = ("ORDER-1", "ORDER-4", "BASIS-3")
EDITS = [
    (
        "format/permutation.py",
        """\
        while outside.size:  # cycle walking: at most a - 1 of the a*b points lie outside
            x[outside] = self._encrypt(x[outside])
            outside = outside[x[outside] >= np.uint64(self.n)]
""",
        """\
        if outside.size:  # cycle walking: at most a - 1 of the a*b points lie outside
            x[outside] = self._encrypt(x[outside])
""",
    ),
]


class Numbers(Dataset[int]):
    """The numbers below 4161."""

    def __len__(self) -> int:
        return 4161

    def __getitem__(self, index: int) -> int:
        return index


def delivered() -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader
    loader = make(Numbers(), 64, shuffle=True, seed=1, collate_fn=list)
    whole = list(range(4161))
    return [sorted(i for batch in loader for i in batch) == whole for _ in range(6)]


RIGHT = [True, True, True, True, True, True]


def shows(play: Any) -> Any:
    return delivered(), RIGHT


Adapter = edited(EDITS)
