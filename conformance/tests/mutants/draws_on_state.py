"""Draws a random number whenever a state is taken."""

import random
from typing import Any

from base import mutant, simple

EXPECTED = "BASIS-5"
LARGEST = {"workers": 0, "sessions": 1, "steps": 4, "samples": 1}
FIELD = ("accelerate#4204",)


class Loader(simple.Loader):
    def state(self) -> dict[str, Any]:
        random.random()
        return super().state()


Adapter = mutant(Loader)
