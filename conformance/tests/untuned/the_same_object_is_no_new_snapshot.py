"""Copies a dataset's state only if it is another object than the last time.

A dataset that hands its own dictionary out and goes on changing it is restored to its first state.
"""

import copy
from typing import Any

from ground import mutant, simple

FAMILY = "states"
BREAKS = ("STATE-6", "RESUME-1", "RESUME-2", "RESUME-7", "INTERVAL-1")


class Loader(simple.Loader):
    def __init__(self, *args: Any, **fields: Any) -> None:
        super().__init__(*args, **fields)
        self.latest: dict[str, tuple[Any, Any]] = {}

    def capture(self) -> dict[str, Any]:
        parts = {"dataset": self.copy, "iterator": self.rows}
        if self.rows is self.copy:
            del parts["iterator"]
        for name, part in parts.items():
            if hasattr(part, "state_dict"):
                state = part.state_dict()
                if name not in self.latest or self.latest[name][0] is not state:
                    self.latest[name] = state, copy.deepcopy(state)
        return {name: copied for name, (_, copied) in self.latest.items()}


class Counting:
    """A stream that hands the dictionary out in which it counts."""

    def __init__(self) -> None:
        self.seen = {"position": 0}

    def __iter__(self) -> Any:
        while self.seen["position"] < 6:
            self.seen["position"] += 1
            yield [self.seen["position"]]

    def state_dict(self) -> Any:
        return self.seen

    def load_state_dict(self, state: Any) -> None:
        self.seen = dict(state)


def shows(play: Any) -> Any:
    make = play.args[0].loader
    loader, again = make(Counting(), batch_size=1), make(Counting(), batch_size=1)
    batches = iter(loader)
    for _ in range(3):
        next(batches)
    again.load(loader.state())
    return list(again), list(batches)


Adapter = mutant(Loader)
