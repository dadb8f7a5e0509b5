"""Raises in its second epoch."""

from collections.abc import Iterator

from base import mutant, simple

EXPECTED = "BASIS-1"
LARGEST = {"workers": 0, "sessions": 1, "steps": 2, "samples": 1}


class Loader(simple.Loader):
    def fetches(self) -> Iterator[simple.Answer]:
        if self.epoch and not self.moved:
            raise OSError("the source is read up")
        return super().fetches()


Adapter = mutant(Loader)
