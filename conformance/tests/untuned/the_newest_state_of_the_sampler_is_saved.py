"""Saves the newest snapshot of a Stateful sampler, also if the lanes' snapshots are older.

With an interval of several batches, a state holds a sampler that has passed what is to be replayed.
"""

from collections.abc import Iterator
from typing import Any

from edited import edited

FAMILY = "ranks and samplers"
BREAKS = ("RESUME-1", "INTERVAL-1", "DOC-6", "DOC-18", "RESUME-7")
EDITS = [
    (
        "epoch/progress.py",
        "self.order.state(self.reach, self.replay_start())",
        "self.order.state(self.reach, self.reach)",
    ),
]


class Counted:
    """A map-style dataset that counts what it gave."""

    def __init__(self) -> None:
        self.given = 0

    def __len__(self) -> int:
        return 12

    def __getitem__(self, index: int) -> tuple[int, int]:
        self.given += 1
        return index, self.given

    def state_dict(self) -> dict[str, int]:
        return {"given": self.given}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.given = state["given"]


class Backwards:
    """A Stateful sampler."""

    def __init__(self) -> None:
        self.at = 0

    def __iter__(self) -> Iterator[int]:
        while self.at < 12:
            self.at += 1
            yield 12 - self.at
        self.at = 0

    def __len__(self) -> int:
        return 12

    def state_dict(self) -> dict[str, int]:
        return {"at": self.at}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.at = state["at"]


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    def loader() -> Any:
        return make(
            Counted(), 2, sampler=Backwards(), seed=1, collate_fn=list, snapshot_every_n_steps=3
        )

    saving = loader()
    batches = iter(saving)
    next(batches), next(batches)
    state = saving.state_dict()
    expected = list(batches)
    resumed = loader()
    try:
        resumed.load_state_dict(state)
        return list(resumed), expected
    except ValueError as error:
        return type(error).__name__, expected


Adapter = edited(EDITS)
