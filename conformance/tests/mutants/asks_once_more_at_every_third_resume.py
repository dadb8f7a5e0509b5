"""Asks the dataset for its state once more at every third resume than at those before."""

from typing import Any

from base import mutant, simple

EXPECTED = "COST-2"
LARGEST = {"workers": 0, "sessions": 13, "steps": 38, "samples": 160}


class Loader(simple.Loader):
    resumes = 0

    def state(self) -> dict[str, Any]:
        return {**super().state(), "resumes": self.resumes}

    def load(self, state: Any) -> None:
        super().load(state)
        self.resumes = state["resumes"] + 1

    def advance(self) -> None:
        super().advance()
        if self.resumes:
            for _ in range(self.resumes // 3):
                self.capture()


Adapter = mutant(Loader)
