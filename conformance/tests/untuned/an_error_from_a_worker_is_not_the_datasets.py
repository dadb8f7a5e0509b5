"""Makes a new failure of an error that a worker sends, without saying that the dataset raised it.

With workers, a state that follows a caught error cannot be resumed: the replay raises it again.
"""

import contextlib
from typing import Any

from edited import edited

FAMILY = "faults"
BREAKS = ("FAULT-11", "RESUME-7", "INTERVAL-1")
EDITS = [
    (
        "workers/process_main.py",
        "        data = encode(_with(answer, replace(failure, error=wrapped)))\n",
        "        data = encode(_with(answer, Failure(wrapped)))\n",
    ),
]


class Counted:
    """A map-style dataset that counts what it gave; one sample cannot be read."""

    def __init__(self) -> None:
        self.given = 0

    def __len__(self) -> int:
        return 12

    def __getitem__(self, index: int) -> tuple[int, int]:
        self.given += 1
        if index == 2:
            raise OSError("unreadable")
        return index, self.given

    def state_dict(self) -> dict[str, int]:
        return {"given": self.given}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.given = state["given"]


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    def loader() -> Any:
        return make(
            Counted(), 1, seed=1, num_workers=1, collate_fn=list, snapshot_every_n_steps=100
        )

    saving = loader()
    batches = iter(saving)
    for _ in range(5):
        with contextlib.suppress(OSError):
            next(batches)
    state = saving.state_dict()
    expected = list(batches)
    resumed = loader()
    resumed.load_state_dict(state)
    try:
        return list(resumed), expected
    except OSError as error:
        return str(error), expected


Adapter = edited(EDITS)
