"""Each sample of an epoch draws the same number from the loader's own source."""

from __future__ import annotations

import random
from typing import Any

import base
import simple

EXPECTED = "VOWN-2"


class Loader(simple.Loader):
    def own_source(self, epoch: int, i: int) -> Any:
        return random.Random(f"{self.seed}/{epoch}").random


class Adapter(base.Adapter):
    loader = Loader
