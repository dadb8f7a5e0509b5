"""Replays from a snapshot by its own interval instead of the state's."""

from collections.abc import Iterator

from base import mutant, simple

EXPECTED = "ELASTIC-3"
LARGEST = {"workers": 0, "sessions": 2, "steps": 5, "samples": 3}


class Loader(simple.Loader):
    def fetches(self) -> Iterator[simple.Answer]:
        if self.snapshot is not None:
            self.batches = self.snapshot["at"] + self.batches % self.interval
        return super().fetches()


Adapter = mutant(Loader)
