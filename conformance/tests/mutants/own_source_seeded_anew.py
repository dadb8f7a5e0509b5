"""Seeds the loader's own random source differently after a resume."""

import random
from typing import Any

from base import mutant, simple

EXPECTED = "VOWN-1"
LARGEST = {"workers": 0, "sessions": 2, "steps": 5, "samples": 1}
FIELD = ("starVLA#351",)


class Loader(simple.Loader):
    life = 0

    def load(self, state: Any) -> None:
        super().load(state)
        self.life = 1

    def own_source(self, epoch: int, i: int) -> Any:
        return random.Random(f"{self.seed}/{epoch}/{i}/{self.life}").random


Adapter = mutant(Loader)
