"""Does not set the sampler's epoch back after the replay of an epoch that is left.

Where lanes with a state have to be replayed to leave an epoch, the sampler gets the epoch that it
had then, and keeps it. The epoch that the program had set with ``set_epoch`` has the order of the
one before.
"""

from typing import Any

from edited import edited
from torch.utils.data import Dataset
from torch.utils.data.distributed import DistributedSampler

FAMILY = "samplers"
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
    (
        "epoch/opening.py",
        "        here = None if chain is None else chain.epoch()\n",
        "",
    ),
]


class Counted(Dataset[int]):
    """A dataset with a state."""

    def __init__(self) -> None:
        self.seen = 0

    def __len__(self) -> int:
        return 12

    def __getitem__(self, index: int) -> int:
        self.seen += 1
        return index

    def state_dict(self) -> dict[str, int]:
        return {"seen": self.seen}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.seen = state["seen"]


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    def epochs(workers: int) -> Any:
        dataset = Counted()
        sampler: Any = DistributedSampler(dataset, 1, 0, seed=3)
        loader = make(
            dataset,
            2,
            sampler=sampler,
            seed=1,
            lanes=1,
            lifetime="run",
            num_workers=workers,
            multiprocessing_context="fork" if workers else None,
            collate_fn=list,
        )
        batches = iter(loader)
        begun = [next(batches), next(batches)]
        sampler.set_epoch(1)
        return begun, list(loader)

    return epochs(1), epochs(0)


Adapter = edited(EDITS)
