"""Does not restore the lanes of a worker that died while it began an epoch.

A reader that lives on begins again as in its first epoch if its worker is lost between two epochs.
"""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from edited import edited
from torch.utils.data import IterableDataset

FAMILY = "faults"
BREAKS = ("FAULT-8",)
EDITS = [
    (
        "workers/task_log.py",
        "            pending[0] = replace(first, openings=tuple(map(self._explicit, "
        "first.openings)))\n",
        "            pass  # it opens its lanes by itself\n",
    ),
]


class Killed(IterableDataset[int]):
    """A Stateful stream that goes on from epoch to epoch, and is killed as it begins the second."""

    def __init__(self, mark: Path) -> None:
        self.at, self.mark = 0, mark

    def __iter__(self) -> Iterator[int]:
        if self.at == 3 and not self.mark.exists():
            self.mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return self.numbers()

    def numbers(self) -> Iterator[int]:
        for _ in range(3):
            self.at += 1
            yield self.at

    def state_dict(self) -> dict[str, int]:
        return {"at": self.at}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.at = state["at"]


def shows(play: Any) -> Any:
    import tempfile

    import midepoch

    make: Any = midepoch.StatefulDataLoader
    with tempfile.TemporaryDirectory() as folder:
        loader = make(
            Killed(Path(folder, "mark")),
            1,
            num_workers=1,
            persistent_workers=True,
            lifetime="run",
            worker_restarts=1,
            collate_fn=list,
            seed=1,
        )
        return [list(loader), list(loader)], [[[1], [2], [3]], [[4], [5], [6]]]


Adapter = edited(EDITS)
