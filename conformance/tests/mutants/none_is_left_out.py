"""Drops None and empty containers from a dataset's state."""

from typing import Any

from base import mutant, simple

EXPECTED = "STATE-6"
LARGEST = {"workers": 0, "sessions": 2, "steps": 5, "samples": 1}
FIELD = ("data#1266", "data#1272")


def pruned(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: pruned(v) for k, v in value.items() if v not in (None, [], {})}
    return [pruned(v) for v in value] if isinstance(value, list) else value


class Loader(simple.Loader):
    def advance(self) -> None:
        super().advance()
        if self.snapshot is not None:
            self.snapshot = {**self.snapshot, "states": pruned(self.snapshot["states"])}


Adapter = mutant(Loader)
