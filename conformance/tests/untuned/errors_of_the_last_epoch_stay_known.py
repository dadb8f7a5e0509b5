"""Forgets to clear the list of the batches that raised when an epoch ends.

In the next epoch a replay drops an error at such a place, as if the run before had met it: the
batch that had been delivered there is skipped over, and nobody learns that its file cannot be read.
The list grows with the epochs, too.
"""

from collections.abc import Iterator
from typing import Any

import ground
from ground import simple
from play import outcome

FAMILY = "faults"
BREAKS = ("FAULT-10", "COST-1", "FAULT-13", "STATE-4")


class Loader(simple.Loader):
    def next_epoch(self) -> None:
        self.epoch, self.batches = max(self.epoch + 1, self.named), 0
        self.snapshot, self.moved = None, False


class Rows:
    """A stream of which some rows fail; it goes on after them."""

    def __init__(self, failing: set[int]) -> None:
        self.failing, self.at = failing, 0

    def __iter__(self) -> "Rows":
        self.at = 0
        return self

    def __next__(self) -> Any:
        if self.at == 12:
            raise StopIteration
        self.at += 1
        if self.at - 1 in self.failing:
            raise OSError(f"row {self.at - 1} cannot be read")
        return [self.at - 1]


def good(batches: Iterator[Any], count: int) -> list[Any]:
    """Return what can be read of the next batches."""
    taken = (outcome(lambda: next(batches)) for _ in range(count))
    return [batch for batch in taken if isinstance(batch, list)]


def shows(play: Any) -> Any:
    make = type(play(kind="iterable").open().session.loader)
    loader = make(Rows({5}), batch_size=2)
    good(iter(loader), 99)
    loader.data.failing.clear()
    good(iter(loader), 4)
    resumed = make(Rows({5}), batch_size=2)
    resumed.load(loader.state())
    return outcome(lambda: next(iter(resumed))), "OSError"


Adapter = ground.mutant(Loader)
