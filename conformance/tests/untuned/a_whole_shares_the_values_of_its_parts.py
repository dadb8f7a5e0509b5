"""Puts the users' values of the ranks' states into the merged one without a copy.

A program that goes on using a rank's state changes the checkpoint that it has merged.
"""

from collections.abc import Iterator
from typing import Any

from edited import edited
from torch.utils.data import IterableDataset

FAMILY = "aliasing"
BREAKS = ("STATE-1",)
EDITS = [
    (
        "checkpoints.py",
        "    return thawed(frozen(merged(documents) if whole is None else whole)).to_dict()\n",
        "    return (merged(documents) if whole is None else whole).to_dict()\n",
    ),
]


class Numbers(IterableDataset[int]):
    """A Stateful stream whose samples tell how often it was begun."""

    def __init__(self, length: int = 4) -> None:
        self.length, self.at, self.passes, self.loaded = length, 0, 0, False

    def __iter__(self) -> Iterator[int]:
        if not self.loaded:
            self.at, self.passes = 0, self.passes + 1
        self.loaded = False
        while self.at < self.length:
            self.at += 1
            yield 100 * self.passes + self.at

    def state_dict(self) -> dict[str, int]:
        return {"at": self.at, "passes": self.passes}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.at, self.passes, self.loaded = state["at"], state["passes"], True


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader
    states = []
    for rank in range(2):
        loader = make(Numbers(), 1, ranks=(rank, 2), lanes=2, collate_fn=list, seed=1)
        next(iter(loader))
        states.append(loader.state_dict())
    whole = midepoch.merge_states(states)
    states[0]["lanes"]["entries"][0]["dataset"]["at"] = 3
    return whole["lanes"]["entries"][0]["dataset"]["at"], 1


Adapter = edited(EDITS)
