"""Calls iter(dataset) twice when it resumes."""

from __future__ import annotations

from collections.abc import Iterator

import base
import simple

EXPECTED = "COST-4"


class Loader(simple.Loader):
    def stream(self) -> Iterator[simple.Batch]:
        if self.snapshot is not None:
            iter(self.data)
        return super().stream()


class Adapter(base.Adapter):
    loader = Loader
