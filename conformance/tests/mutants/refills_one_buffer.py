"""Writes every batch into the same buffer and delivers that buffer."""

from typing import Any

from base import mutant, simple

EXPECTED = "BASIS-6"
LARGEST = {"workers": 0, "sessions": 1, "steps": 2, "samples": 2}
FIELD = ()


class Epoch(simple.Epoch):
    def __next__(self) -> Any:
        rows = super().__next__()
        self.loader.buffer[:] = rows
        return self.loader.buffer


class Loader(simple.Loader):
    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.buffer: simple.Batch = []

    def __iter__(self) -> Epoch:
        super().__iter__()
        self.live = Epoch(self)
        return self.live


Adapter = mutant(Loader)
