"""Goes on after position.batches, the steps of all ranks that share the lanes of a dataset.

A rank has delivered one batch in each step only as long as the number of ranks stays. If a state of
two ranks is resumed on four, each of them takes the batches that other ranks have delivered for its
own, and skips as many.
"""

from typing import Any

from edited import edited

FAMILY = "another number of ranks"
BREAKS = ("WORLD-10", "WORLD-2")
EDITS = [
    (
        "epoch/progress.py",
        "return cls(document.delivered, document.position.ahead)",
        "return cls(document.position.batches, document.position.ahead)",
    ),
    (
        "epoch/progress.py",
        "self._of_others = document.position.batches - document.delivered",
        "self._of_others = document.position.batches - self.delivery.count",
    ),
]


class Counted:
    """A map-style dataset with a state."""

    def __init__(self) -> None:
        self.reads = 0

    def __len__(self) -> int:
        return 32

    def __getitem__(self, index: int) -> int:
        self.reads += 1
        return index

    def state_dict(self) -> dict[str, int]:
        return {"reads": self.reads}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.reads = state["reads"]


def shows(play: Any) -> Any:
    import midepoch

    def loader(rank: int, world: int) -> Any:
        return midepoch.StatefulDataLoader(
            Counted(), batch_size=2, collate_fn=list, ranks=(rank, world), lanes=4, seed=0
        )

    taken, states = [], []
    for rank in range(2):
        one = loader(rank, 2)
        batches = iter(one)
        taken += [next(batches) for _ in range(2)]
        states.append(one.state_dict())
    whole = midepoch.merge_states(states)
    for rank in range(4):
        one = loader(rank, 4)
        one.load_state_dict(whole)
        taken += list(one)
    return sorted(index for batch in taken for index in batch), list(range(32))


Adapter = edited(EDITS)
