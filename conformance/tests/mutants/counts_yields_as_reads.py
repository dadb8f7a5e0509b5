"""Replaces a dataset's count of samples read by the count of samples delivered."""

from typing import Any

from base import mutant, simple

EXPECTED = "RESUME-1"
LARGEST = {"workers": 0, "sessions": 2, "steps": 5, "samples": 2}
FIELD = ("streaming#800",)


class Loader(simple.Loader):
    def capture(self) -> dict[str, Any]:
        states = super().capture()
        for state in states.values():
            if "read" in state:
                state["read"] = self.batches * self.batch_size
        return states


Adapter = mutant(Loader)
