"""Restores every mapping as a plain dict, whatever its type was."""

from typing import Any

from base import mutant, simple

EXPECTED = "STATE-6"
LARGEST = {"workers": 0, "sessions": 2, "steps": 5, "samples": 1}


def plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(map(plain, value))
    return value


class Loader(simple.Loader):
    def capture(self) -> dict[str, Any]:
        return {name: plain(state) for name, state in super().capture().items()}


Adapter = mutant(Loader)
