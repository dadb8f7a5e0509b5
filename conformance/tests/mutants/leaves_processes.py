"""Its workers outlive it."""

from __future__ import annotations

import base
import simple

EXPECTED = "FAULT-4"


KEPT = []


class Pool(simple.Pool):
    def close(self) -> None:
        KEPT.append(self)


class Loader(simple.Loader):
    def pool(self) -> simple.Pool:
        return Pool(self, self.workers)


class Adapter(base.Adapter):
    loader = Loader
