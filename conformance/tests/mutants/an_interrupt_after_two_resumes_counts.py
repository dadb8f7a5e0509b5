"""Counts a batch that an interrupt cut short as delivered, but only after two resumes."""

from typing import Any

from base import mutant, simple

EXPECTED = "RESUME-7"
LARGEST = {"workers": 0, "sessions": 3, "steps": 6, "samples": 1}


class Loader(simple.Loader):
    resumes = 0

    def __iter__(self) -> simple.Epoch:
        super().__iter__()
        self.live = Epoch(self)
        return self.live

    def state(self) -> dict[str, Any]:
        return {**super().state(), "resumes": self.resumes}

    def load(self, state: Any) -> None:
        super().load(state)
        self.resumes = state["resumes"] + 1


class Epoch(simple.Epoch):
    loader: Loader

    def interrupted(self) -> None:
        super().interrupted()
        if self.loader.resumes > 1:
            self.loader.advance()


Adapter = mutant(Loader)
