"""Leaves no batch current once a scope has ended, and not the batch around it.

A dataset that iterates a loader of its own cannot ask for its generators any more.
"""

from typing import Any

from edited import edited

FAMILY = "random numbers"
BREAKS = ("SEED-7",)
EDITS = [
    (
        "lane/batch_info.py",
        "        _current.scope = self._before\n",
        "        _current.scope = BatchScope(None)\n",
    ),
]


class Pairs:
    """Each sample is made of a pass over an inner loader, and of a draw."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def __len__(self) -> int:
        return 3

    def __getitem__(self, index: int) -> Any:
        import midepoch

        inner = sum(map(sum, self.inner)) if self.inner else 3
        return inner, int(midepoch.batch_info().numpy.integers(1 << 60))


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader
    inner = make(range(3), 2, seed=2, collate_fn=list)
    expected = list(make(Pairs(None), 1, seed=1, collate_fn=list))
    try:
        return list(make(Pairs(inner), 1, seed=1, collate_fn=list)), expected
    except RuntimeError as error:
        return type(error).__name__, expected


Adapter = edited(EDITS)
