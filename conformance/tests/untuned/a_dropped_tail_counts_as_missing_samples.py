"""Expects that the last batch of dealt lanes is short by what it lacks, or longer by what is left.

Under ``drop_last`` a rank refuses the state that it took itself after its epoch's last batch.
"""

from typing import Any

from edited import edited

FAMILY = "ranks and samplers"
BREAKS = ("WORLD-1", "EPOCH-3")
EDITS = [
    (
        "format/dealing.py",
        "        samples = min(samples, samples - every * size + (plan.length or 0))\n",
        "        samples -= every * size - (plan.length or 0)\n",
    ),
]


class Counting:
    """A Stateful map-style dataset."""

    def __init__(self) -> None:
        self.seen = 0

    def __len__(self) -> int:
        return 21

    def __getitem__(self, index: int) -> int:
        self.seen += 1
        return index

    def state_dict(self) -> dict[str, int]:
        return {"seen": self.seen}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.seen = state["seen"]


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    def loader() -> Any:
        return make(
            Counting(),
            2,
            drop_last=True,
            ranks=(1, 2),
            lanes=4,
            collate_fn=list,
            seed=1,
        )

    saving, resumed = loader(), loader()
    batches = iter(saving)
    for _ in range(5):
        next(batches)
    try:
        resumed.load_state_dict(saving.state_dict())
    except ValueError as error:
        return type(error).__name__, [[], 5]
    return [list(resumed), len(list(resumed))], [[], 5]


Adapter = edited(EDITS)
