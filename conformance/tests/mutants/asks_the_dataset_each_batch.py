"""Asks the dataset for its state at every batch, whatever the interval."""

from __future__ import annotations

import base
import simple

EXPECTED = "COST-2"


class Loader(simple.Loader):
    def advance(self) -> None:
        super().advance()
        if self.stateful:
            self.data.state_dict()


class Adapter(base.Adapter):
    loader = Loader
