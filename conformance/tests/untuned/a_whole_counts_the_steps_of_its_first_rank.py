"""Gives the merged state of all ranks the steps of the first rank, and not the most of them.

Where the first rank's lanes have ended and others go on, the whole tells fewer steps than were
made; if the first rank had nothing in this epoch, the whole cannot be loaded at all.
"""

from collections.abc import Iterator
from typing import Any

from edited import edited
from torch.utils.data import IterableDataset, get_worker_info

FAMILY = "ranks and samplers"
BREAKS = ("WORLD-10", "DOC-19", "DOC-18", "DOC-6")
EDITS = [
    (
        "format/merging.py",
        "    steps = max(part.position.batches for part in parts.values())\n",
        "    steps = first.position.batches\n",
    ),
]


class Uneven(IterableDataset[int]):
    """A stream of which the first of two lanes has less."""

    def __iter__(self) -> Iterator[int]:
        info = get_worker_info()
        assert info is not None
        yield from range(100 * info.id, 100 * info.id + (3, 12)[info.id])


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader
    states = []
    for rank, steps in enumerate((2, 4)):  # the lane of rank 0 ends with its second batch
        loader = make(Uneven(), 2, lanes=2, seed=1, ranks=(rank, 2), collate_fn=list)
        batches = iter(loader)
        for _ in range(steps):
            next(batches)
        states.append(loader.state_dict())
    whole = midepoch.merge_states(states)
    return whole["position"]["batches"], 4


Adapter = edited(EDITS)
