"""Saves a dataset's position, but not the dataset's private random generator."""

from typing import Any

from base import mutant, simple

EXPECTED = "RESUME-1"
LARGEST = {"workers": 0, "sessions": 2, "steps": 5, "samples": 2}
FIELD = ("starVLA#351",)


class Loader(simple.Loader):
    first: dict[str, Any] | None = None

    def restore(self) -> int:
        self.first = None
        done = super().restore()
        self.first = self.capture()
        return done

    def capture(self) -> dict[str, Any]:
        states = super().capture()
        if self.first and "generators" in states.get("dataset", {}):
            states["dataset"]["generators"] = self.first["dataset"]["generators"]
        return states


Adapter = mutant(Loader)
