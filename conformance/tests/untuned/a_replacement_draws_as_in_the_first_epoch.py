"""Starts the replacement of a dead worker in the first epoch, whichever the present one is.

From the second epoch on, a worker's death changes the augmentation of all its later batches.
"""

import os
import random
import signal
from pathlib import Path
from typing import Any

from edited import edited

FAMILY = "workers"
BREAKS = ("FAULT-8",)
EDITS = [
    (
        "workers/task_log.py",
        "again: list[Question] = [Open(iteration, latest.epoch, openings)]",
        "again: list[Question] = [Open(iteration, 0, openings)]",
    ),
]


class Drawing:
    """Draws a number for each sample; dies once in the second epoch, if it is told to."""

    def __init__(self, flag: Path | None) -> None:
        self.flag = flag

    def __len__(self) -> int:
        return 8

    def __getitem__(self, i: int) -> float:
        import midepoch

        flag = self.flag
        if flag is not None and not flag.exists() and midepoch.batch_info().epoch == 1 and i == 2:
            flag.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return random.random()


def shows(play: Any) -> Any:
    import midepoch

    runs = []
    for flag in (Path(play().folder.name, "died"), None):
        loader: Any = midepoch.StatefulDataLoader(
            Drawing(flag),  # type: ignore[arg-type]  # torch takes any sequence
            2,
            num_workers=1,
            worker_restarts=1,
            seed=1,
        )
        runs.append([batch.tolist() for _ in range(2) for batch in loader])
    return runs[0], runs[1]


Adapter = edited(EDITS)
