"""Tells a lane's code the same seed in each epoch, also where it has a fresh dataset in each.

A ``worker_init_fn`` that seeds an augmentation library by it repeats the epoch's augmentations.
"""

from typing import Any

from edited import edited
from torch.utils.data import IterableDataset, get_worker_info

FAMILY = "random numbers"
BREAKS = ("SEED-1", "VAMB-2", "DOC-11")
EDITS = [
    (
        "lane/lane.py",
        "position = (number,) if spec.keeps else (epoch, number)",
        "position = (number,)",
    ),
]


class Seeds(IterableDataset[Any]):
    """A stream that yields its worker's seed."""

    def __iter__(self) -> Any:
        info = get_worker_info()
        return iter([0 if info is None else info.seed])


def shows(play: Any) -> Any:
    import midepoch

    loader: Any = midepoch.StatefulDataLoader(Seeds(), None, seed=3, num_workers=1)
    first, second = (list(loader) for _ in range(2))
    return first == second, False


Adapter = edited(EDITS)
