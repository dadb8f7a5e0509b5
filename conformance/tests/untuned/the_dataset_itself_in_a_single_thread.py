"""Lets a single lane in a thread use the loader's dataset, as it does without workers.

Without workers that is so for a dataset that lives for the whole run. One worker's dataset lives
for an epoch by default, and each epoch has to begin with a fresh copy.
"""

from typing import Any

from edited import edited

FAMILY = "threads"
BREAKS = ("WORKERS-2", "EPOCH-2", "ELASTIC-3")
EDITS = [
    (
        "workers/threads.py",
        "self.datasets = LaneDatasets(spec, dataset, own=False, remedy=_PROCESSES)",
        "self.datasets = LaneDatasets(spec, dataset, own=spec.lanes <= 1, remedy=_PROCESSES)",
    )
]


class Counted:
    """A dataset with a state: how many samples were read."""

    def __init__(self) -> None:
        self.reads = 0

    def __len__(self) -> int:
        return 6

    def __getitem__(self, index: int) -> tuple[int, int]:
        self.reads += 1
        return index, self.reads

    def state_dict(self) -> dict[str, int]:
        return {"reads": self.reads}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.reads = state["reads"]


def shows(play: Any) -> Any:
    import midepoch

    def run(kind: Any) -> list[Any]:
        loader: Any = midepoch.StatefulDataLoader(
            Counted(), batch_size=2, collate_fn=list, num_workers=1, worker_type=kind, seed=0
        )
        return [list(loader), list(loader)]

    return run("thread"), run("process")


Adapter = edited(EDITS)
