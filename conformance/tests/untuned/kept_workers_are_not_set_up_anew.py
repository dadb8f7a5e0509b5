"""Keeps persistent workers whose ``worker_init_fn`` has made their copies of a dataset differ.

Under lifetime "epoch" each epoch's copy is set up under the epoch's own seed. Kept workers go on
with that of the first one.
"""

import random
from typing import Any

from edited import edited
from torch.utils.data import get_worker_info

FAMILY = "workers"
BREAKS = ("WORKERS-2", "EPOCH-4", "EPOCH-1", "VAMB-1")
EDITS = [
    (
        "epoch/execution.py",
        "    interchangeable = unbound and loader.worker_init_fn is None\n",
        "    interchangeable = unbound\n",
    ),
]


class Rows:
    """Rows with a number that the set-up drew."""

    drawn = -1

    def __len__(self) -> int:
        return 8

    def __getitem__(self, index: int) -> tuple[int, int]:
        return index, self.drawn


def draw(lane: int) -> None:
    """Draw a number for a lane's dataset."""
    info: Any = get_worker_info()
    info.dataset.drawn = random.getrandbits(64)


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    def epochs(persistent: bool) -> Any:
        loader = make(
            Rows(),
            2,
            num_workers=1,
            seed=1,
            collate_fn=list,
            worker_init_fn=draw,
            lifetime="epoch",
            persistent_workers=persistent,
        )
        return [list(loader) for _ in range(2)]

    return epochs(True), epochs(False)


Adapter = edited(EDITS)
