"""Does not count a batch that failed, so a later state repeats a batch."""

from typing import Any

from base import mutant, simple

EXPECTED = "FAULT-11"
LARGEST = {"workers": 0, "sessions": 2, "steps": 8, "samples": 4}


class Epoch(simple.Epoch):
    def __next__(self) -> Any:
        before = self.loader.batches
        try:
            return super().__next__()
        except StopIteration:
            raise
        except Exception:
            self.loader.batches = before
            raise


class Loader(simple.Loader):
    def __iter__(self) -> Epoch:
        super().__iter__()
        self.live = Epoch(self)
        return self.live


Adapter = mutant(Loader)
