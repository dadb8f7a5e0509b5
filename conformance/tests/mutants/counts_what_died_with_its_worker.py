"""Counts the batch that died with its worker as delivered."""

from collections.abc import Iterator
from typing import Any

from base import mutant, simple

EXPECTED = "FAULT-6"
LARGEST = {"workers": 1, "sessions": 2, "steps": 5, "samples": 2}


class Loader(simple.Loader):
    def pooled(self, tasks: list[Any]) -> Iterator[simple.Answer]:
        try:
            yield from super().pooled(tasks)
        except RuntimeError:
            self.batches += 1
            raise


Adapter = mutant(Loader)
