"""Repeats a dead worker's batches without telling its replacement which of them had failed.

A dataset's error that the caller has seen and survived makes the worker irreplaceable.
"""

import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from edited import edited

FAMILY = "faults"
BREAKS = ("FAULT-8",)
EDITS = [
    (
        "workers/task_log.py",
        "self._since[lane].append(replace(question, raises=question.raises or raised))",
        "self._since[lane].append(question)",
    ),
]


class Tally:
    """Rows that count the fetches before them: one is unreadable, and one kills, once."""

    def __init__(self, flag: str) -> None:
        self.seen, self.flag = 0, flag

    def __len__(self) -> int:
        return 8

    def __getitem__(self, index: int) -> tuple[int, int]:
        if index == 2:
            raise OSError("unreadable")
        if index == 5 and self.flag and not Path(self.flag).exists():
            Path(self.flag).touch()
            os._exit(3)
        self.seen += 1
        return index, self.seen

    def state_dict(self) -> dict[str, int]:
        return {"seen": self.seen}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.seen = state["seen"]


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    def epoch(flag: str) -> Any:
        loader = make(
            Tally(flag),
            1,
            num_workers=1,
            seed=1,
            collate_fn=list,
            snapshot_every_n_steps=50,
            worker_restarts=2,
        )
        batches, taken = iter(loader), []
        for _ in range(9):
            try:
                taken.append(next(batches))
            except StopIteration:
                break
            except Exception as error:
                taken.append(type(error).__name__)
        return taken

    with TemporaryDirectory() as folder:
        return epoch(os.path.join(folder, "died")), epoch("")


Adapter = edited(EDITS)
