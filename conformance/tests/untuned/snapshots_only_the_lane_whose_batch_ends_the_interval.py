"""Snapshots a map-style dataset with a state only in the lane that makes an interval's last batch.

With several lanes and an interval above 1 the lanes never have a common cut, so that a resume
fetches the whole epoch again.
"""

from typing import Any

from edited import edited

FAMILY = "cost"
BREAKS = ("COST-3",)
EDITS = [
    (
        "epoch/schedule.py",
        """\
        return step.index + self._lanes >= cut
""",
        """\
        return step.index + 1 >= cut
""",
    ),
]


class Rows:
    def __init__(self) -> None:
        self.log: list[int] = []

    def __len__(self) -> int:
        return 64

    def __getitem__(self, index: int) -> int:
        FETCHED.append(index)
        return index

    def state_dict(self) -> Any:
        return {}

    def load_state_dict(self, state: Any) -> None:
        pass


FETCHED: list[int] = []


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader
    options: Any = {
        "batch_size": 1,
        "lanes": 2,
        "seed": 1,
        "collate_fn": list,
        "snapshot_every_n_steps": 4,
    }
    counts = []
    for position in (8, 24, 40):
        loader = make(Rows(), **options)
        batches = iter(loader)
        for _ in range(position):
            next(batches)
        again = make(Rows(), **options)
        again.load_state_dict(loader.state_dict())
        FETCHED.clear()
        next(iter(again))
        counts.append(len(FETCHED))
    return counts, [1, 1, 1]


Adapter = edited(EDITS)
