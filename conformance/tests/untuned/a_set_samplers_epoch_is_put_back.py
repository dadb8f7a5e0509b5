"""Leaves the sampler under the old epoch when the lanes of a broken-off epoch are restored.

A run with workers over a Stateful dataset breaks an epoch off, calls ``sampler.set_epoch(1)`` as
everybody does, and trains on the order of epoch 0 again.
"""

from collections.abc import Iterator
from typing import Any

from edited import edited
from torch.utils.data import Sampler

FAMILY = "epochs"
BREAKS = ("EPOCH-5", "RESUME-7", "WORKERS-1")
EDITS = [
    (
        "epoch/opening.py",
        "        if chain is not None:\n"
        "            chain.put_epoch(here)  # the program may have set the next one already\n",
        "",
    ),
    (
        "epoch/opening.py",
        "        here = None if chain is None else chain.epoch()\n",
        "",
    ),
]


class Turned(Sampler[int]):
    """An order that begins at another place in each epoch."""

    def __init__(self) -> None:
        self.epoch = 0

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch

    def __iter__(self) -> Iterator[int]:
        return iter([(i + 3 * self.epoch) % 12 for i in range(12)])

    def __len__(self) -> int:
        return 12


class Counting:
    """A map-style dataset with a state."""

    def __init__(self) -> None:
        self.given = 0

    def __len__(self) -> int:
        return 12

    def __getitem__(self, index: int) -> int:
        self.given += 1
        return index

    def state_dict(self) -> dict[str, int]:
        return {"given": self.given}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.given = state["given"]


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader
    sampler = Turned()
    loader = make(
        Counting(),
        2,
        sampler=sampler,
        seed=1,
        collate_fn=list,
        num_workers=1,
        worker_type="thread",
        persistent_workers=True,
    )
    batches = iter(loader)
    next(batches), next(batches)
    sampler.set_epoch(1)
    keys = [key for batch in loader for key in batch]
    return keys, [(i + 3) % 12 for i in range(12)]


Adapter = edited(EDITS)
