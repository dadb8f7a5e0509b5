"""Draws from the user's sampler directly, whose generator restarts in a new process."""

from typing import Any

from base import Distributed, mutant, simple

EXPECTED = "EPOCH-4"
LARGEST = {"workers": 0, "sessions": 2, "steps": 6, "samples": 4}
FIELD = ("accelerate#4195", "streaming#869")


class Loader(simple.Loader):
    drawn: tuple[int, Any] | None = None

    def indices(self, epoch: int) -> Any:
        if self.sampler is None or isinstance(self.sampler, Distributed):
            return super().indices(epoch)
        if self.drawn is None or self.drawn[0] != epoch:
            self.drawn = epoch, list(self.sampler)
        return self.drawn[1]


Adapter = mutant(Loader)
