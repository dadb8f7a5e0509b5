"""Takes a sampler's snapshot before each draw, also before the one that finds the epoch's end.

If the last batch was short, the sampler's pass has ended with it, and many samplers then stand at
the beginning of their next pass. Workers are asked ahead, so that this draw comes before the last
batch is delivered. A state taken after it resumes with a whole epoch in place of an empty rest.
"""

from collections.abc import Iterator
from typing import Any

from edited import edited

FAMILY = "the end of an epoch"
BREAKS = ("EPOCH-3", "DOC-10")
EDITS = [
    (
        "sampling/custom.py",
        """        if self._ran_out:
            return  # the present state would begin another pass
        if self._index == 0""",
        """        if self._index == 0""",
    )
]


class Placed:
    """A sampler with a state: its place, which begins anew after the end."""

    def __init__(self) -> None:
        self.place = 0

    def __len__(self) -> int:
        return 10

    def __iter__(self) -> Iterator[int]:
        while self.place < 10:
            self.place += 1
            yield self.place - 1
        self.place = 0

    def state_dict(self) -> dict[str, int]:
        return {"place": self.place}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.place = state["place"]


def shows(play: Any) -> Any:
    import midepoch

    def loader() -> Any:
        return midepoch.StatefulDataLoader(
            range(10), 4, sampler=Placed(), collate_fn=list, num_workers=2, seed=0
        )

    one, other = loader(), loader()
    batches = iter(one)
    for _ in range(3):
        next(batches)
    other.load_state_dict(one.state_dict())
    return [list(other), list(other)], [[], list(batches) or list(loader())]


Adapter = edited(EDITS)
