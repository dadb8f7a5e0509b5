"""Takes the first missing batch, after a resume, for the highest that was delivered.

If an epoch that was resumed out of order is then left, its sampler is put back before batches that
had overtaken a slow one: the next epoch begins with samples that were delivered already.
"""

import time
from collections.abc import Iterator
from typing import Any

from edited import edited

FAMILY = "ranks and samplers"
BREAKS = ("RESUME-7", "EPOCH-5")
EDITS = [
    (
        "epoch/progress.py",
        "self.reach = max(self._ahead, default=self.low - 1) + 1",
        "self.reach = self.low",
    ),
]


class Cursor:
    """A sampler whose passes continue one another."""

    def __init__(self) -> None:
        self.at = 0

    def __len__(self) -> int:
        return 12

    def __iter__(self) -> Iterator[int]:
        for _ in range(12):
            self.at += 1
            yield self.at - 1

    def state_dict(self) -> dict[str, int]:
        return {"at": self.at}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.at = state["at"]


class Slow:
    """Rows of which the first takes long."""

    def __len__(self) -> int:
        return 100

    def __getitem__(self, index: int) -> int:
        time.sleep(0.4 if index == 0 else 0)
        return index


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    def loader(workers: int) -> Any:
        return make(
            Slow(),
            1,
            sampler=Cursor(),
            num_workers=workers,
            in_order=False,
            seed=1,
            collate_fn=list,
        )

    saving, resumed = loader(2), loader(0)
    batches = iter(saving)
    delivered = [next(batches)[0] for _ in range(3)]
    resumed.load_state_dict(saving.state_dict())
    delivered.append(next(iter(resumed))[0])
    return next(iter(resumed))[0], max(delivered) + 1


Adapter = edited(EDITS)
