"""Adds a letter to its state at every third resume."""

from typing import Any

from base import mutant, simple

EXPECTED = "COST-1"
LARGEST = {"workers": 0, "sessions": 13, "steps": 38, "samples": 160}


class Loader(simple.Loader):
    resumes = 100

    def state(self) -> dict[str, Any]:
        return {**super().state(), "resumes": self.resumes, "trail": "x" * (self.resumes // 3)}

    def load(self, state: Any) -> None:
        super().load(state)
        self.resumes = state["resumes"] + 1


Adapter = mutant(Loader)
