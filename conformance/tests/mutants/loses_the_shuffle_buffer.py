"""Saves the number of rows read, but not the rows in the dataset's shuffle buffer."""

from typing import Any

from base import mutant, simple

EXPECTED = "RESUME-1"
LARGEST = {"workers": 0, "sessions": 2, "steps": 5, "samples": 5}
FIELD = ("torchtitan#3008", "prime-rl#2944", "datasets#7901", "datasets#8408")


class Loader(simple.Loader):
    def capture(self) -> dict[str, Any]:
        states = super().capture()
        for state in states.values():
            if "buffer" in state:
                state["buffer"] = []
        return states


Adapter = mutant(Loader)
