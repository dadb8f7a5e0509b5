"""Gives each sample of an epoch the same number from the loader's own random source."""

import random
from typing import Any

from base import mutant, simple

EXPECTED = "VOWN-2"
LARGEST = {"workers": 0, "sessions": 1, "steps": 2, "samples": 4}
FIELD = ("pytorch#5059", "pytorch#41329")


class Loader(simple.Loader):
    def own_source(self, epoch: int, i: int) -> Any:
        return random.Random(f"{self.seed}/{epoch}").random


Adapter = mutant(Loader)
