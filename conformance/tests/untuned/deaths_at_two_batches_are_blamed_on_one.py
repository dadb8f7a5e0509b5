"""Blames a batch as soon as its worker has died twice, at whatever batches.

The rule that a batch which kills its worker twice in a row is an error looks at the worker alone. A
run that loses one worker at its beginning and its replacement an hour later ends, although
``worker_restarts`` has replacements left.
"""

import os
from pathlib import Path
from typing import Any

from edited import edited
from play import outcome

FAMILY = "workers"
BREAKS = ("FAULT-8", "RESUME-7", "FAULT-6")
EDITS = [
    (
        "workers/processes.py",
        "        if before is None or activity is None or activity != before.activity:\n",
        "        if before is None or activity is None:\n",
    ),
]


class Dying:
    """Rows, of which two kill the process that reads them first."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __len__(self) -> int:
        return 24

    def __getitem__(self, index: int) -> int:
        mark = Path(self.folder, f"died at {index}")
        if index in (4, 17) and not mark.exists():
            mark.touch()
            os._exit(3)
        return index


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader
    folder = play(kind="map").folder
    loader = make(Dying(folder.name), 2, seed=1, num_workers=1, collate_fn=list, worker_restarts=4)
    return outcome(lambda: list(loader)), list(make(range(24), 2, seed=1, collate_fn=list))


Adapter = edited(EDITS)
