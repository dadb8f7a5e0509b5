"""Keeps persistent workers whatever the lifetime of their datasets is.

A state of a run without persistent workers has the lifetime "epoch". Resumed with them, a dataset
that counts what it has read goes on counting in the next epoch, where it began anew before.
"""

from typing import Any

from edited import edited

FAMILY = "workers"
BREAKS = ("ELASTIC-3", "WORKERS-2", "EPOCH-1")
EDITS = [
    (
        "epoch/execution.py",
        "    keeps = lives_on or renews or (loader.persistent_workers and interchangeable)\n",
        "    keeps = lives_on or renews or loader.persistent_workers\n",
    ),
]


class Counted:
    """A map-style dataset that counts what it gave."""

    def __init__(self) -> None:
        self.given = 0

    def __len__(self) -> int:
        return 6

    def __getitem__(self, index: int) -> tuple[int, int]:
        self.given += 1
        return index, self.given

    def state_dict(self) -> dict[str, int]:
        return {"given": self.given}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.given = state["given"]


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    def loader(persistent: bool) -> Any:
        return make(
            Counted(), 2, seed=1, num_workers=1, collate_fn=list, persistent_workers=persistent
        )

    saving = loader(False)
    batches = iter(saving)
    next(batches)
    state = saving.state_dict()
    resumed = loader(True)
    resumed.load_state_dict(state)
    return [list(resumed), list(resumed)], [list(batches), list(saving)]


Adapter = edited(EDITS)
