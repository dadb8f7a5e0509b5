"""Fetches each batch twice and delivers the second one."""

from base import mutant, simple

EXPECTED = "COST-5"
FIELD = ("pytorch#26957",)
LARGEST = {"workers": 0, "sessions": 1, "steps": 8, "samples": 7}


class Loader(simple.Loader):
    def fetch(self, epoch: int, k: int, indices: list[int]) -> simple.Batch:
        super().fetch(epoch, k, indices)
        return super().fetch(epoch, k, indices)


Adapter = mutant(Loader)
