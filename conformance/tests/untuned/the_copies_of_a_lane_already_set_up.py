"""Copies the dataset for a lane when the lane needs its own, and not for all lanes beforehand.

The first lane of a worker uses the worker's dataset itself. If one worker runs several lanes, the
others get copies of what worker_init_fn has made of it: a part of the first lane's part.
"""

from collections.abc import Iterator
from typing import Any

from edited import edited
from torch.utils.data import IterableDataset, get_worker_info

FAMILY = "fewer workers than lanes"
BREAKS = ("WORKERS-1", "ELASTIC-1", "BASIS-3")
EDITS = [
    (
        "lane/host.py",
        """        new = [lane for lane in lanes if lane not in self._objects and lane not in self._unmade]
        self._unmade.update(new)
        copied = sorted(self._unmade)[int(self._uses_own()) :]
        if new and copied and self._pattern is None:
            self._pattern = _Pattern(self._dataset, self.spec.number(copied[0]), self._remedy)
""",  # noqa: E501
        """        self._unmade.update(lane for lane in lanes if lane not in self._objects)
""",
    ),
    (
        "lane/host.py",
        """        made = self._dataset
        if self._pattern is not None and not self._uses_own():
            made = self._pattern.copy()
""",
        """        made = self._dataset
        if not self._uses_own():
            if self._pattern is None:
                self._pattern = _Pattern(self._dataset, self.spec.number(lane), self._remedy)
            made = self._pattern.copy()
""",
    ),
]


class Range(IterableDataset[int]):
    """The numbers of a range, as in torch's documentation."""

    def __init__(self) -> None:
        self.start, self.stop = 0, 16

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.start, self.stop))


def divide(lane: int) -> None:
    """Give a worker's dataset its part of the range."""
    info: Any = get_worker_info()
    dataset = info.dataset
    each = (dataset.stop - dataset.start) // info.num_workers
    dataset.start += lane * each
    dataset.stop = dataset.start + each


def shows(play: Any) -> Any:
    import midepoch

    loader: Any = midepoch.StatefulDataLoader(
        Range(), 2, collate_fn=list, num_workers=1, lanes=4, worker_init_fn=divide, seed=0
    )
    return sorted(number for batch in loader for number in batch), list(range(16))


Adapter = edited(EDITS)
