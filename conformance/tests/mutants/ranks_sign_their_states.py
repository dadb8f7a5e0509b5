"""Notes the rank in its states, in a field that readers ignore."""

from typing import Any

from format_base import mutant

from midepoch_conformance.adapters import reference

EXPECTED = "WORLD-4"
LARGEST = {"workers": 0, "sessions": 3, "steps": 10, "samples": 2}


class Session(reference.Session):
    def __init__(self, w: Any, x: Any) -> None:
        super().__init__(w, x)
        self.rank = x.rank

    def state(self) -> Any:
        return super().state() | {"x-rank": self.rank}


Adapter = mutant(Session)
