"""Delivers nothing in its second epoch."""

from collections.abc import Iterator

from base import mutant, simple

EXPECTED = "BASIS-1"
LARGEST = {"workers": 0, "sessions": 1, "steps": 2, "samples": 1}


class Loader(simple.Loader):
    def fetches(self) -> Iterator[simple.Answer]:
        return iter(()) if self.epoch else super().fetches()


Adapter = mutant(Loader)
