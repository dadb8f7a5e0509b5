"""Counts the replacements of workers that live on over the whole run, and not in each epoch.

``worker_restarts=1`` replaces one worker in an epoch. With persistent workers the first death of a
later epoch ends the run, and the error says that the replacements of this epoch are used up.
"""

import os
from pathlib import Path
from typing import Any

from edited import edited
from play import outcome

FAMILY = "workers"
BREAKS = ("FAULT-8", "WORKERS-2", "ELASTIC-3", "RESUME-7")
EDITS = [
    (
        "workers/processes.py",
        "        self._iteration = message.iteration\n        self._left = self._allowed\n",
        "        self._iteration = message.iteration\n",
    ),
]


class Dying:
    """Rows, of which two kill the process that reads them first, each in an epoch of its own."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __len__(self) -> int:
        return 12

    def __getitem__(self, index: int) -> int:
        first, second = (Path(self.folder, f"died at {i}") for i in (3, 8))
        if index == 3 and not first.exists():
            first.touch()
            Path(self.folder, "epoch 0").touch()
            os._exit(3)
        if index == 8 and first.exists() and not second.exists():
            if Path(self.folder, "epoch 0").exists():
                Path(self.folder, "epoch 0").unlink()
            else:
                second.touch()
                os._exit(3)
        return index


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader
    folder = play(kind="map").folder
    loader = make(
        Dying(folder.name),
        2,
        seed=1,
        num_workers=1,
        collate_fn=list,
        persistent_workers=True,
        worker_restarts=1,
    )
    whole = list(make(range(12), 2, seed=1, collate_fn=list))
    return outcome(lambda: [list(loader) for _ in range(2)]), [whole, whole]


Adapter = edited(EDITS)
