"""Resumes by fetching every delivered batch again."""

from collections.abc import Iterator

from base import mutant, simple

EXPECTED = "COST-3"
LARGEST = {"workers": 0, "sessions": 7, "steps": 24, "samples": 1840}
FIELD = ("lhotse#1327", "transformers#21934", "torchtune#2490")


class Loader(simple.Loader):
    def fetches(self) -> Iterator[simple.Answer]:
        start, self.batches, self.snapshot = self.batches, 0, None
        source = super().fetches()
        for _ in range(start):
            next(source, None)
        self.batches = start
        return source


Adapter = mutant(Loader)
