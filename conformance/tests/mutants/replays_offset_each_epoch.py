"""Every epoch after a resume begins at the resume's offset."""

from __future__ import annotations

from typing import Any

import base
import simple

EXPECTED = "EPOCH-1"


class Loader(simple.Loader):
    offset = 0

    def load(self, state: Any) -> None:
        super().load(state)
        self.offset = self.batches

    def next_epoch(self) -> None:
        super().next_epoch()
        self.batches = self.offset


class Adapter(base.Adapter):
    loader = Loader
