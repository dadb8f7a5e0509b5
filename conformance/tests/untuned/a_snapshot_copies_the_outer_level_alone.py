"""Copies the outermost level of a dataset's state when it takes a snapshot, and no list inside.

A dataset that hands out the buffer that it goes on filling changes its last snapshot. With an
interval of several batches, a restart finds rows in the buffer that were read after the snapshot.
"""

import copy
from collections.abc import Iterator
from typing import Any

import ground
from ground import simple

FAMILY = "states"
BREAKS = ("STATE-6", "INTERVAL-1", "RESUME-1", "RESUME-7")


class Loader(simple.Loader):
    def capture(self) -> dict[str, Any]:
        parts = {"dataset": self.copy, "iterator": self.rows}
        if self.rows is self.copy:
            del parts["iterator"]
        stateful = {name: part for name, part in parts.items() if hasattr(part, "state_dict")}
        return {name: copy.copy(part.state_dict()) for name, part in stateful.items()}


class Window:
    """A stream that tells how many rows it has seen, and hands out the list of them."""

    def __init__(self) -> None:
        self.seen: list[int] = []

    def __iter__(self) -> Iterator[Any]:
        while len(self.seen) < 12:
            self.seen.append(len(self.seen))
            yield [len(self.seen)]

    def state_dict(self) -> dict[str, Any]:
        return {"seen": self.seen}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.seen = list(state["seen"])


def shows(play: Any) -> Any:
    make = play.args[0].loader
    first, second = (make(Window(), batch_size=1, interval=3) for _ in range(2))
    batches = iter(first)
    for _ in range(5):
        next(batches)
    second.load(first.state())
    return list(second), list(batches)


Adapter = ground.mutant(Loader)
