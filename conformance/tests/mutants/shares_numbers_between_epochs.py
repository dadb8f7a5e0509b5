"""Seeds a sample's own source by the sum of epoch and index: epochs share their numbers."""

import random
from typing import Any

from base import mutant, simple

EXPECTED = "VOWN-2"
LARGEST = {"workers": 0, "sessions": 1, "steps": 2, "samples": 4}
FIELD = ("pytorch#5059",)


class Loader(simple.Loader):
    def own_source(self, epoch: int, i: int) -> Any:
        return random.Random(self.seed + epoch + i).random


Adapter = mutant(Loader)
