"""Ignores a state that is loaded while an epoch is open."""

from typing import Any

from base import mutant, simple

EXPECTED = "RESUME-5"
LARGEST = {"workers": 0, "sessions": 2, "steps": 8, "samples": 2}
FIELD = ("data#1548", "prime-rl#3332")


class Loader(simple.Loader):
    def load(self, state: Any) -> None:
        self.check(state)
        if self.live is None or self.live.over is not None:
            super().load(state)


Adapter = mutant(Loader)
