"""Remembers which tasks of a worker ended in an error, so that its replacement expects them to.

A replacement fetches the samples of these batches again, and does not collate them. So it never
meets an error of collate_fn, takes its data for other data, and cannot replace the worker.
"""

import os
import tempfile
from pathlib import Path
from typing import Any

from edited import edited

FAMILY = "replaced workers"
BREAKS = ("FAULT-8",)
EDITS = [
    (
        "workers/task_log.py",
        "raised = isinstance(answer.outcome, Failure) and answer.outcome.fetching",
        "raised = isinstance(answer.outcome, Failure)",
    )
]


class Mortal:
    """A dataset with a state whose process dies once, at sample 5."""

    def __init__(self, flag: Path) -> None:
        self.flag = flag
        self.reads = 0

    def __len__(self) -> int:
        return 8

    def __getitem__(self, index: int) -> tuple[int, int]:
        if index == 5 and not self.flag.exists():
            self.flag.touch()
            os._exit(3)
        self.reads += 1
        return index, self.reads

    def state_dict(self) -> dict[str, int]:
        return {"reads": self.reads}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.reads = state["reads"]


def without_two(samples: list[Any]) -> list[Any]:
    """Collate all batches but that of sample 2."""
    if samples[0][0] == 2:
        raise ValueError("sample 2")
    return samples


def shows(play: Any) -> Any:
    import midepoch

    def run(flag: Path) -> list[Any]:
        loader: Any = midepoch.StatefulDataLoader(
            Mortal(flag),
            batch_size=1,
            collate_fn=without_two,
            num_workers=1,
            worker_restarts=2,
            snapshot_every_n_steps=20,
            seed=0,
        )
        batches, taken = iter(loader), []
        while True:
            try:
                taken.append(next(batches))
            except StopIteration:
                return taken
            except ValueError:
                taken.append("ValueError")
            except RuntimeError as error:
                return [*taken, type(error).__name__]

    with tempfile.TemporaryDirectory() as folder:
        undisturbed = Path(folder, "undisturbed")
        undisturbed.touch()
        return run(Path(folder, "died")), run(undisturbed)


Adapter = edited(EDITS)
