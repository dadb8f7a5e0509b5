"""Copies the dataset for a lane when the lane is first used.

In a worker process the first lane uses the given object itself: where several lanes share a worker,
the later ones begin with what the first one has counted.
"""

from typing import Any

from edited import edited

FAMILY = "lanes"
BREAKS = ("WORKERS-1", "ELASTIC-1", "WORLD-10")
EDITS = [
    (
        "lane/host.py",
        "            made = self._pattern.copy()\n",
        "            made = _Pattern(self._dataset, lane, self._remedy).copy()\n",
    ),
]


class Tally:
    """Rows that count the fetches before them."""

    def __init__(self) -> None:
        self.seen = 0

    def __len__(self) -> int:
        return 16

    def __getitem__(self, index: int) -> tuple[int, int]:
        self.seen += 1
        return index, self.seen

    def state_dict(self) -> dict[str, int]:
        return {"seen": self.seen}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.seen = state["seen"]


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    def epoch(workers: int) -> Any:
        loader = make(
            Tally(),
            2,
            num_workers=workers,
            lanes=2,
            seed=1,
            collate_fn=list,
            lifetime="epoch",
            prefetch=1,
        )
        return list(loader)

    return epoch(1), epoch(2)


Adapter = edited(EDITS)
