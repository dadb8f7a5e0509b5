"""Deals every rank the lanes of the first one, as streams that never ask for their rank do."""

from typing import Any

from format_base import mutant

from midepoch_conformance.adapters import reference

EXPECTED = "WORLD-9"
LARGEST = {"workers": 0, "sessions": 3, "steps": 10, "samples": 4}


class First:
    """The first of several ranks."""

    def __init__(self, x: Any) -> None:
        self.x = x
        self.rank = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.x, name)


class Session(reference.Session):
    def __init__(self, w: Any, x: Any) -> None:
        super().__init__(w, First(x) if w.ranks == "dealt" else x)


Adapter = mutant(Session)
