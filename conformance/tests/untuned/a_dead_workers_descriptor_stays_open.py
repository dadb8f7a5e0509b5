"""Closes the connection of a worker that was replaced, and not the descriptor of its process.

With a library that crashes now and then, a long run holds more and more of them, until the system
gives it no more.
"""

import contextlib
import os
from pathlib import Path
from typing import Any

from edited import edited

FAMILY = "workers"
BREAKS = ("FAULT-7", "FAULT-4")
EDITS = [
    (
        "workers/process.py",
        "    worker.disconnect()\n    worker.end(GRACE)\n",
        "    worker.disconnect()\n",
    ),
]


class Dying:
    """Rows, of which the first one kills the process that reads it first."""

    def __init__(self, mark: str) -> None:
        self.mark = mark

    def __len__(self) -> int:
        return 4

    def __getitem__(self, index: int) -> int:
        if index == 0 and not Path(self.mark).exists():
            Path(self.mark).touch()
            os._exit(3)
        return index


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader
    folder = play(kind="map").folder

    def descriptors(run: int) -> int:
        mark = str(Path(folder.name, f"died in {run}"))
        loader = make(Dying(mark), 2, num_workers=1, collate_fn=list, worker_restarts=1)
        list(loader)
        del loader
        return len(os.listdir("/proc/self/fd"))

    before = set(os.listdir("/proc/self/fd"))
    held = [descriptors(run) for run in range(5)]
    for number in set(os.listdir("/proc/self/fd")) - before:
        with contextlib.suppress(OSError):  # the folder's own
            if "pidfd" in os.readlink(f"/proc/self/fd/{number}"):
                os.close(int(number))
    return held[-1] - held[1], 0


Adapter = edited(EDITS)
