"""Caches the samples, and delivers the cached ones in every later epoch."""

from typing import Any

from base import mutant, simple

EXPECTED = "BASIS-7"
LARGEST = {"workers": 0, "sessions": 1, "steps": 4, "samples": 1}
FIELD = ()


class Loader(simple.Loader):
    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fetched: dict[int, list[float]] = {}

    def sample(self, epoch: int, i: int) -> list[float]:
        if i not in self.fetched:
            self.fetched[i] = super().sample(epoch, i)
        return self.fetched[i]


Adapter = mutant(Loader)
