"""Keeps the list of indices that a batch sampler gives, which may fill it again at once.

Worker threads read it when they make the batch, and that is too late.
"""

from collections.abc import Iterator
from typing import Any

from edited import edited

FAMILY = "ranks and samplers"
BREAKS = ("BASIS-3",)
EDITS = [("sampling/custom.py", "return _own(next(self._pass))", "return next(self._pass)")]


class Refilled:
    """A batch sampler that gives one list each time."""

    def __iter__(self) -> Iterator[list[int]]:
        batch = [0, 0]
        for first in range(0, 24, 2):
            batch[:] = first, first + 1
            yield batch


def shows(play: Any) -> Any:
    import midepoch

    loader: Any = midepoch.StatefulDataLoader(
        range(24), batch_sampler=Refilled(), collate_fn=list, num_workers=2, worker_type="thread"
    )
    return sorted(i for batch in loader for i in batch), list(range(24))


Adapter = edited(EDITS)
