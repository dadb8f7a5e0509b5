"""Notes the snapshot before the latest one after the latest one was replaced: both are the same.

A stream of lifetime "run" whose pass is left right after a snapshot has no earlier one then. Its
state in the next epoch is that of the middle of the pass before, and a resume goes on there.
"""

from collections.abc import Iterator
from typing import Any

from edited import edited
from torch.utils.data import IterableDataset

FAMILY = "epochs"
BREAKS = ("RESUME-7", "EPOCH-5")
EDITS = [
    (
        "lane/progress.py",
        """\
            self._before = self.latest
            self.latest = Taken(snapshot, self.delivered)
""",
        """\
            self.latest = Taken(snapshot, self.delivered)
            self._before = self.latest
""",
    ),
]


class Stream(IterableDataset[int]):
    """A Stateful stream that keeps a loaded position for the next iterator that is drawn from."""

    at = 0
    start: int | None = None

    def __iter__(self) -> Iterator[int]:
        first, self.start = self.start or 0, None
        for self.at in range(first + 1, 13):
            yield self.at

    def state_dict(self) -> dict[str, int]:
        return {"at": self.at}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.start = state["at"]


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    def loader() -> Any:
        return make(Stream(), 2, seed=1, lifetime="run", collate_fn=list)

    left = loader()
    batches = iter(left)
    for _ in range(3):
        next(batches)
    following = iter(left)
    state = left.state_dict()
    resumed = loader()
    resumed.load_state_dict(state)
    return list(resumed), list(following)


Adapter = edited(EDITS)
