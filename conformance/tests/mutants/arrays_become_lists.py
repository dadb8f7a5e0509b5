"""Restores an array as a list."""

from typing import Any

import numpy
from base import mutant, simple

EXPECTED = "STATE-6"
LARGEST = {"workers": 0, "sessions": 2, "steps": 5, "samples": 1}
FIELD = ("data#1266", "data#1272")


def listed(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: listed(v) for k, v in value.items()}
    return value.tolist() if isinstance(value, numpy.ndarray) else value


class Loader(simple.Loader):
    def capture(self) -> dict[str, Any]:
        return {name: listed(state) for name, state in super().capture().items()}


Adapter = mutant(Loader)
