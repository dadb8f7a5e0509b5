"""Does not give a sampler back the epoch that the program has set, when lost lanes are restored.

A program breaks off an epoch, sets the next one, and iterates. With worker processes, the
dataset's lanes are first replayed under the old epoch, which then stays: the order of the epoch
before comes again.
"""

import random
from typing import Any

from edited import edited

FAMILY = "breaks"
BREAKS = ("WORKERS-1", "RESUME-7")
EDITS = [
    (
        "epoch/opening.py",
        """\
        if chain is not None:
            chain.put_epoch(here)  # the program may have set the next one already
""",
        "",
    ),
]


class Rows:
    def __init__(self) -> None:
        self.fetched = 0

    def __len__(self) -> int:
        return 12

    def __getitem__(self, index: int) -> int:
        self.fetched += 1
        return index

    def state_dict(self) -> Any:
        return {"fetched": self.fetched}

    def load_state_dict(self, state: Any) -> None:
        self.fetched = state["fetched"]


class Order:
    epoch = 0

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch

    def __len__(self) -> int:
        return 12

    def __iter__(self) -> Any:
        return iter(random.Random(self.epoch).sample(range(12), 12))


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader
    runs = []
    for workers in (1, 0):
        order = Order()
        loader = make(
            Rows(),
            3,
            sampler=order,
            num_workers=workers,
            lanes=1,
            lifetime="run",
            seed=1,
            collate_fn=list,
        )
        batches = iter(loader)
        next(batches)
        del batches
        order.set_epoch(1)
        runs.append(list(loader))
    return tuple(runs)


Adapter = edited(EDITS)
