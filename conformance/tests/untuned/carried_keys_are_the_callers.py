"""Hands out the keys that roll over as they are.

Whoever changes them in a state, or in the state that was loaded, changes the next epoch's first
batch.
"""

from collections.abc import Iterator
from typing import Any

from edited import edited

FAMILY = "aliasing"
BREAKS = ("STATE-2", "STATE-5")
EDITS = [
    (
        "epoch/progress.py",
        "carried=tuple(map(_copied, position.carried))",
        "carried=tuple(position.carried)",
    ),
]


class Pairs:
    """A sampler of keys that are lists."""

    def __len__(self) -> int:
        return 10

    def __iter__(self) -> Iterator[list[int]]:
        return ([shard, row] for shard in range(2) for row in range(5))


class Shards:
    """Rows by their shard and their place."""

    def __len__(self) -> int:
        return 10

    def __getitem__(self, key: list[int]) -> int:
        return 5 * key[0] + key[1]


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    def epochs(change: bool) -> Any:
        loader = make(Shards(), 4, sampler=Pairs(), seed=1, last_batch="rollover", collate_fn=list)
        list(loader)
        state = loader.state_dict()
        if change:
            state["position"]["carried"][0][0] = 0
        return list(loader)

    return epochs(True), epochs(False)


Adapter = edited(EDITS)
