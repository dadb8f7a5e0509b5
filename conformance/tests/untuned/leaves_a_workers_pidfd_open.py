"""Does not close the descriptor by which it sees a worker's end when the worker is closed.

Each epoch with worker processes costs one file descriptor for each worker, until the process may
open no more.
"""

import contextlib
import gc
import os
from typing import Any

from edited import edited

FAMILY = "resources"
BREAKS = ("FAULT-7",)
EDITS = [
    (
        "workers/process.py",
        """\
        if self.sentinel != self.process.sentinel:
            os.close(self.sentinel)
""",
        "",
    ),
]


def delivered() -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    def held() -> int:
        loader = make(list(range(4)), 2, seed=1, num_workers=1, multiprocessing_context="fork")
        list(loader)
        del loader
        gc.collect()
        return len(os.listdir("/proc/self/fd"))

    before = set(os.listdir("/proc/self/fd"))
    first = held()
    more = [held() - first for _ in range(3)]
    for number in set(os.listdir("/proc/self/fd")) - before:
        with contextlib.suppress(OSError):
            if "pidfd" in os.readlink(f"/proc/self/fd/{number}"):
                os.close(int(number))
    return more


RIGHT = [0, 0, 0]


def shows(play: Any) -> Any:
    return delivered(), RIGHT


Adapter = edited(EDITS)
