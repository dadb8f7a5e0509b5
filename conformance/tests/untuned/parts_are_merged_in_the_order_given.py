"""Takes the ranks' states that it merges for those of rank 0, 1, 2, in the order that they come in.

A program that finds the files of its checkpoint by name (rank 10 before rank 2), or as they arrive,
gets a state in which ranks go on in each other's lanes.
"""

from collections.abc import Iterator
from typing import Any

from edited import edited
from torch.utils.data import IterableDataset, get_worker_info

FAMILY = "ranks and samplers"
BREAKS = ("WORLD-10", "WORLD-9")
EDITS = [
    (
        "format/merging.py",
        "    entries = [_entry(parts[lane % world], lane // world) for lane in own]\n",
        "    ranked = list(parts.values())\n"
        "    entries = [_entry(ranked[lane % world], lane // world) for lane in own]\n",
    ),
]


class Files(IterableDataset[int]):
    """A Stateful stream of the files of one lane, of which it keeps those that are left."""

    def __init__(self) -> None:
        self.left: list[int] | None = None

    def __iter__(self) -> Iterator[int]:
        info = get_worker_info()
        assert info is not None
        if self.left is None:
            self.left = list(range(info.id, 12, info.num_workers))
        while self.left:
            yield self.left.pop(0)
        self.left = None

    def state_dict(self) -> dict[str, Any]:
        return {"left": self.left}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.left = state["left"]


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    def loader(rank: int, world: int) -> Any:
        return make(Files(), 1, ranks=(rank, world), lanes=2, collate_fn=list, seed=1)

    states = []
    for rank in (1, 0):
        saving = loader(rank, 2)
        batches = iter(saving)
        next(batches), next(batches)
        states.append(saving.state_dict())
    alone = loader(0, 1)
    alone.load_state_dict(midepoch.merge_states(states))
    return [row for batch in alone for row in batch], list(range(4, 12))


Adapter = edited(EDITS)
