"""Keeps the tasks before a map-style lane's snapshot in the log for a dead worker's successor.

The successor loads the snapshot, and then runs again what the snapshot already contains: its
dataset's state is too far on.
"""

import os
import tempfile
from pathlib import Path
from typing import Any

from edited import edited
from torch.utils.data import Dataset

FAMILY = "faults"
BREAKS = ("FAULT-8",)
EDITS = [
    (
        "workers/task_log.py",
        """\
                self._entries[lane] = snapshot
                self._since[lane] = []
                self._unknown.pop(lane, None)
            elif""",
        """\
                self._entries[lane] = snapshot
                self._unknown.pop(lane, None)
            elif""",
    ),
]


class Tally(Dataset[int]):
    """A Stateful dataset that counts its fetches, and once ends its process."""

    fetched = 0

    def __init__(self, marker: Path | None) -> None:
        self.marker = marker

    def __len__(self) -> int:
        return 16

    def __getitem__(self, index: int) -> int:
        if index == 11 and self.marker is not None and not self.marker.exists():
            self.marker.touch()
            os._exit(1)
        self.fetched += 1
        return 100 * index + self.fetched

    def state_dict(self) -> dict[str, int]:
        return {"fetched": self.fetched}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.fetched = state["fetched"]


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    def batches(marker: Path | None) -> Any:
        return list(
            make(
                Tally(marker),
                2,
                seed=1,
                num_workers=1,
                collate_fn=list,
                snapshot_every_n_steps=2,
                worker_restarts=1,
            )
        )

    with tempfile.TemporaryDirectory() as folder:
        return batches(Path(folder, "died")), batches(None)


Adapter = edited(EDITS)
