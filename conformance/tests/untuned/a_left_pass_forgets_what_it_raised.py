"""Drops the list of a lane's errors when its pass is left early.

With snapshots switched off, a job that broke off an epoch after an unreadable record cannot resume
from a state of the next one: the replay of the left pass raises the old error again.
"""

from collections.abc import Iterator
from typing import Any

from edited import edited
from torch.utils.data import IterableDataset

FAMILY = "faults"
BREAKS = ("FAULT-11", "RESUME-7", "EPOCH-4")
EDITS = [
    (
        "lane/progress.py",
        "        errors = self._errors_from(base)\n"
        "        return replace(base, ordinal=-batches, ended=False, replay=0, errors=errors, "
        "content=None)\n",
        "        return replace(base, ordinal=-batches, ended=False, replay=0, errors=(), "
        "content=None)\n",
    ),
]


class Records(IterableDataset[int]):
    """A Stateful stream of which one record cannot be read; it goes on after that."""

    def __init__(self) -> None:
        self.at = 0

    def __iter__(self) -> Iterator[int]:
        return self

    def __next__(self) -> int:
        if self.at == 12:
            self.at = 0
            raise StopIteration
        self.at += 1
        if self.at == 4:
            raise OSError("unreadable")
        return self.at

    def state_dict(self) -> dict[str, int]:
        return {"at": self.at}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.at = state["at"]


def taken(batches: Any) -> list[Any]:
    got: list[Any] = []
    while len(got) < 3:
        try:
            got.append(next(batches))
        except OSError as error:
            got.append(str(error))
        except StopIteration:
            got.append("end")
    return got


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    def loader() -> Any:
        return make(Records(), 1, seed=1, collate_fn=list, lifetime="run", snapshot_every_n_steps=0)

    saving = loader()
    batches = iter(saving)
    taken(batches), taken(batches)
    batches = iter(saving)
    state = saving.state_dict()
    expected = taken(batches)
    resumed = loader()
    resumed.load_state_dict(state)
    return taken(iter(resumed)), expected


Adapter = edited(EDITS)
