"""Loaders that change values of a dataset's state on its way, and a dataset that shows that."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import ground
from ground import base, simple

__all__ = ["came_back", "changing"]

Change = Callable[[Any], Any]


def walked(tree: Any, change: Change) -> Any:
    """Return a tree with each part changed, the inner parts first."""
    kind = type(tree)
    if kind is dict:
        tree = {key: walked(value, change) for key, value in tree.items()}
    elif kind in (list, tuple):
        tree = kind(walked(value, change) for value in tree)
    return change(tree)


def changing(change: Change) -> type[base.Adapter]:
    """Return an adapter of the simple loader that changes the values of a dataset's states."""

    class Loader(simple.Loader):
        def capture(self) -> dict[str, Any]:
            return {name: walked(state, change) for name, state in super().capture().items()}

    return ground.mutant(Loader)


class Holder:
    """A stream whose state holds a value."""

    def __init__(self, value: Any) -> None:
        self.value, self.position = value, 0

    def __iter__(self) -> Iterator[Any]:
        while self.position < 4:
            self.position += 1
            yield [self.position]

    def state_dict(self) -> Any:
        return {"position": self.position, "held": {"value": self.value}}

    def load_state_dict(self, state: Any) -> None:
        self.position, self.value = state["position"], state["held"]["value"]


def came_back(play: Any, value: Any, spell: Change = repr) -> tuple[Any, Any]:
    """Return a value as it comes back from a dataset's state, and as it was, in words."""
    make = play.args[0].loader
    first, second = make(Holder(value), batch_size=1), make(Holder(None), batch_size=1)
    next(iter(first))
    second.load(first.state())
    next(iter(second))
    return spell(second.copy.value), spell(value)
