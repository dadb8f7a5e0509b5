"""Counts the bytes of batches that persistent workers have made ahead of the consumer.

Too many of them hold back further tasks. A batch is taken off the count when the consumer takes it,
and those of an epoch that was broken off are never taken. After enough of such epochs no task is
sent, and the next batch never comes.
"""

import signal
import time
from typing import Any

import numpy as np
from edited import edited

FAMILY = "epochs broken off"
BREAKS = ("EPOCH-5",)
EDITS = [
    (
        "workers/processes.py",
        """        for worker in self._workers:
            worker.forget()
        asked = 0
""",
        """        asked = 0
""",
    )
]


class Large:
    """Samples of 24 megabytes, of which the first takes a while."""

    def __len__(self) -> int:
        return 8

    def __getitem__(self, index: int) -> Any:
        if index == 0:
            time.sleep(0.5)  # the other worker's batches wait, and nobody takes them
        return np.full(6 << 20, index, dtype=np.float32)


def late(*_: object) -> None:
    """End a wait that has no end."""
    raise TimeoutError


def shows(play: Any) -> Any:
    import midepoch

    loader: Any = midepoch.StatefulDataLoader(
        Large(), batch_size=2, num_workers=2, persistent_workers=True, seed=0
    )
    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(30)
    try:
        for _ in range(6):
            next(iter(loader))
        return [batch[0, 0].item() for batch in loader], [0.0, 2.0, 4.0, 6.0]
    except TimeoutError:
        return "a batch that never comes", [0.0, 2.0, 4.0, 6.0]
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


Adapter = edited(EDITS)
