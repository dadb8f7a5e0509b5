"""Taking a state draws a random number."""

from __future__ import annotations

import random
from typing import Any

import base
import simple

EXPECTED = "BASIS-5"


class Loader(simple.Loader):
    def state(self) -> dict[str, Any]:
        random.random()
        return super().state()


class Adapter(base.Adapter):
    loader = Loader
