"""The simple loader out of order: it delivers the later one of the next two batches first.

It has no fault: its state says which batches were delivered above the first that was not. The
mutants that deliver out of order are edits of it.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import simple


class Loader(simple.Loader):
    """Overtakes where it may: random access to what has no state."""

    ahead: tuple[int, ...] = ()

    def access(self, done: int) -> Iterator[simple.Answer]:
        low = self.batches - len(self.ahead)
        if self.in_order or hasattr(self.data, "state_dict"):
            for k in self.left(low):
                yield self.made(k)
            return
        while left := self.left(low):
            yield self.made(left[1] if len(left) > 1 else left[0])
            low = self.batches - len(self.ahead)

    def fetches(self) -> Iterator[simple.Answer]:
        done = self.restore()
        if not self.random_access or hasattr(self.data, "state_dict"):
            return super().fetches()
        return self.access(done)

    def left(self, low: int) -> list[int]:
        """Return the batches that were not delivered."""
        return [k for k in range(low, len(self.order(self.epoch))) if k not in self.ahead]

    def made(self, k: int) -> simple.Answer:
        """Make a batch, and note that it is delivered."""
        answer = self.attempt(self.epoch, k, self.order(self.epoch)[k])
        low = self.batches - len(self.ahead)
        ahead = {*self.ahead, k}
        while low in ahead:
            ahead.remove(low)
            low += 1
        self.ahead = tuple(sorted(ahead))
        return answer

    def next_epoch(self) -> None:
        super().next_epoch()
        self.ahead = ()

    def state(self) -> dict[str, Any]:
        return {**super().state(), "ahead": list(self.ahead)}

    def load(self, state: Any) -> None:
        super().load(state)
        self.ahead = tuple(copy.copy(state["ahead"]))
