"""Keeps the batch that is being made in one variable of the process, and not one of each thread.

With two worker threads a sample draws from the private generators of another thread's batch.
"""

import time
from typing import Any

from edited import edited

FAMILY = "random numbers"
BREAKS = ("SEED-7", "VOWN-1", "VOWN-2", "WORKERS-1", "BASIS-2")
EDITS = [
    ("lane/batch_info.py", "class _Current(threading.local):", "class _Current:"),
]


class Slow:
    """Rows that wait before they draw."""

    def __len__(self) -> int:
        return 8

    def __getitem__(self, index: int) -> tuple[int, float]:
        from midepoch import batch_info

        time.sleep(0.02)
        return index, float(batch_info().numpy.random())


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    def epoch(workers: int) -> Any:
        loader = make(Slow(), 1, num_workers=workers, worker_type="thread", seed=1, collate_fn=list)
        try:
            return list(loader)
        except Exception as error:
            return type(error).__name__

    return epoch(2), epoch(0)


Adapter = edited(EDITS)
