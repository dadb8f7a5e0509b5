"""Looks first whether an object has a state to tell, and asks it for the state once more then.

Each snapshot costs twice as much as the interval allows, and a state of None is not kept.
"""

from collections.abc import Iterator
from typing import Any

from edited import edited
from torch.utils.data import IterableDataset

FAMILY = "costs"
BREAKS = ("COST-2", "STATE-6")
EDITS = [
    (
        "stateful.py",
        "        slot: freeze(value.state_dict()) "
        "for slot, value in objects.items() if is_stateful(value)\n",
        "        slot: freeze(value.state_dict())\n"
        "        for slot, value in objects.items()\n"
        "        if is_stateful(value) and value.state_dict() is not None\n",
    ),
]


class Asked(IterableDataset[int]):
    """A Stateful stream that counts how often its state is asked for."""

    calls = 0

    def __init__(self) -> None:
        self.at = 0

    def __iter__(self) -> Iterator[int]:
        while self.at < 40:
            self.at += 1
            yield self.at

    def state_dict(self) -> dict[str, int]:
        Asked.calls += 1
        return {"at": self.at}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.at = state["at"]


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader
    Asked.calls = 0
    batches = len(list(make(Asked(), 1, collate_fn=list, seed=1)))
    return Asked.calls <= batches + 4, True


Adapter = edited(EDITS)
