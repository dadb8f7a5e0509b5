"""Taking a state draws a random number."""

from __future__ import annotations

import random
from typing import Any

import base
import simple

EXPECTED = "BASIS-5"
LARGEST = {"workers": 0, "sessions": 1, "steps": 4, "samples": 1}
FIELD = ("accelerate#4204",)


class Loader(simple.Loader):
    def state(self) -> dict[str, Any]:
        random.random()
        return super().state()


class Adapter(base.Adapter):
    loader = Loader
