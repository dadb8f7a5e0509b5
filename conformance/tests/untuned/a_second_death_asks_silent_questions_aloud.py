"""Asks all open questions of a dead worker again, those whose answers nobody awaits among them.

If a worker's replacement dies as well, before its lanes are restored, the next one's restoring is
taken for an answer of the epoch.
"""

import os
import signal
from pathlib import Path
from typing import Any

from edited import edited

FAMILY = "faults"
BREAKS = ("FAULT-8",)
EDITS = [
    (
        "workers/task_log.py",
        "a.question for a in self.asked if not a.silent and a.question.iteration == iteration\n",
        "a.question for a in self.asked if a.question.iteration == iteration\n",
    ),
]


class Killed:
    """A Stateful dataset that is killed at a sample, and then once more while it is restored."""

    def __init__(self, folder: Path) -> None:
        self.given, self.folder = 0, folder

    def __len__(self) -> int:
        return 8

    def __getitem__(self, index: int) -> tuple[int, int]:
        self.given += 1
        if index == 5:
            self.die("first")
        return index, self.given

    def die(self, name: str) -> None:
        mark = self.folder / name
        if not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)

    def state_dict(self) -> dict[str, int]:
        return {"given": self.given}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.die("second")
        self.given = state["given"]


def shows(play: Any) -> Any:
    import tempfile

    import midepoch

    make: Any = midepoch.StatefulDataLoader
    right = [[(i, i + 1)] for i in range(8)]
    with tempfile.TemporaryDirectory() as folder:
        loader = make(
            Killed(Path(folder)),
            1,
            seed=1,
            num_workers=1,
            worker_restarts=3,
            collate_fn=list,
            timeout=60,
        )
        try:
            return list(loader), right
        except Exception as error:
            return type(error).__name__, right


Adapter = edited(EDITS)
