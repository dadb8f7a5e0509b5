"""Repeats a rank's last batch after a resume, so the rank is a batch behind the others."""

from typing import Any

from base import Distributed, mutant, simple

EXPECTED = "WORLD-1"
LARGEST = {"workers": 0, "sessions": 4, "steps": 14, "samples": 3}
FIELD = ("torchft#309",)


class Loader(simple.Loader):
    def load(self, state: Any) -> None:
        super().load(state)
        if isinstance(self.sampler, Distributed) and self.sampler.rank:
            self.batches -= 1


Adapter = mutant(Loader)
