"""Saves the dataset's state without a copy, so the state keeps changing."""

from typing import Any

from base import mutant, simple

EXPECTED = "STATE-1"
LARGEST = {"workers": 0, "sessions": 2, "steps": 10, "samples": 2}
FIELD = ("live dataset state",)


class Loader(simple.Loader):
    def capture(self) -> dict[str, Any]:
        parts = {"dataset": self.copy, "iterator": self.rows}
        return {n: part.state_dict() for n, part in parts.items() if hasattr(part, "state_dict")}

    def state(self) -> dict[str, Any]:
        kept, self.snapshot = self.snapshot, None
        try:
            return {**super().state(), "snapshot": kept}
        finally:
            self.snapshot = kept


Adapter = mutant(Loader)
