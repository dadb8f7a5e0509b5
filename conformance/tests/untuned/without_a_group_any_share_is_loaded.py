"""Compares a state's share only with a share of its own.

One process without a process group continues the state that one of two ranks took: it delivers the
other rank's samples again, and calls the epoch whole.
"""

import os
from collections.abc import Iterator
from typing import Any

from edited import edited
from torch.utils.data import IterableDataset

FAMILY = "refusals"
BREAKS = ("WORLD-2",)
EDITS = [
    (
        "epoch/planning.py",
        "    if position.batches and position.share != share:\n",
        "    if position.batches and share is not None and position.share != share:\n",
    ),
]


class Split(IterableDataset[int]):
    """A stream that its user divides between ranks."""

    def __iter__(self) -> Iterator[int]:
        rank, world = int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))
        return iter(range(rank, 16, world))


def shows(play: Any) -> Any:
    import torch.distributed as dist

    import midepoch

    make: Any = midepoch.StatefulDataLoader

    def loader() -> Any:
        return make(Split(), 2, seed=1, collate_fn=list)

    from torch.testing._internal.distributed.fake_pg import FakeStore

    os.environ.update(RANK="0", WORLD_SIZE="2")
    dist.init_process_group("fake", rank=0, world_size=2, store=FakeStore())
    try:
        saving = loader()
        batches = iter(saving)
        taken = [next(batches), next(batches)]
        state = saving.state_dict()
    finally:
        dist.destroy_process_group()
        del os.environ["RANK"], os.environ["WORLD_SIZE"]
    alone = loader()
    try:
        alone.load_state_dict(state)
    except Exception as error:
        return type(error).__name__, "PlanMismatchError"
    return (taken, list(alone)), "PlanMismatchError"


Adapter = edited(EDITS)
