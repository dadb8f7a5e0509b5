"""Ends its epoch when a sample raises: a caller that catches the exception gets no more batches."""

from typing import Any

from base import mutant, simple

EXPECTED = "FAULT-5"
LARGEST = {"workers": 0, "sessions": 2, "steps": 7, "samples": 3}


class Epoch(simple.Epoch):
    def __next__(self) -> Any:
        try:
            return super().__next__()
        except StopIteration:
            raise
        except Exception:
            self.over = StopIteration()
            raise


class Loader(simple.Loader):
    def __iter__(self) -> Epoch:
        super().__iter__()
        self.live = Epoch(self)
        return self.live


Adapter = mutant(Loader)
