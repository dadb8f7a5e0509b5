"""Replays from a snapshot as many batches as *its* interval says, not as the state says."""

from __future__ import annotations

from collections.abc import Iterator

import base
import simple

EXPECTED = "ELASTIC-3"


class Loader(simple.Loader):
    def stream(self) -> Iterator[simple.Batch]:
        if self.snapshot is not None:
            self.batches = self.snapshot["at"] + self.batches % self.interval
        return super().stream()


class Adapter(base.Adapter):
    loader = Loader
