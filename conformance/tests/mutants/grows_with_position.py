"""Lists all that was delivered in its state."""

from __future__ import annotations

from typing import Any

import base
import simple

EXPECTED = "COST-1"


class Loader(simple.Loader):
    def state(self) -> dict[str, Any]:
        return {**super().state(), "delivered": list(range(self.batches * self.batch_size))}


class Adapter(base.Adapter):
    loader = Loader
