"""Stacks a large batch in shared memory under the type of its first sample.

If samples of one batch differ in precision, workers round them and the caller's process does not.
"""

from typing import Any

import torch
from edited import edited

FAMILY = "workers"
BREAKS = ("WORKERS-1", "WORKERS-2")
EDITS = [
    ("transport/collating.py", "            and sample.dtype is dtype\n", ""),
]


class Mixed:
    """Large tensors, some of them of double precision."""

    def __len__(self) -> int:
        return 60

    def __getitem__(self, index: int) -> torch.Tensor:
        kind = torch.float32 if index % 3 == 0 else torch.float64
        return torch.full((32768,), 1 / (3 + index), dtype=kind)


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    def epoch(workers: int) -> Any:
        loader = make(Mixed(), 3, num_workers=workers, lanes=1, seed=1)
        return [(str(batch.dtype), batch[:, 0].tolist()) for batch in loader]

    return epoch(1), epoch(0)


Adapter = edited(EDITS)
