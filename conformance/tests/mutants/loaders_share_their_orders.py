"""Keeps the order of an epoch for all loaders of the process, whatever their seeds."""

from base import mutant, simple

EXPECTED = "RESUME-7"
LARGEST = {"workers": 0, "sessions": 1, "steps": 2, "samples": 3}
ORDERS: dict[tuple[int, int], list[int]] = {}


class Loader(simple.Loader):
    def indices(self, epoch: int) -> list[int]:
        if self.sampler is not None:
            return super().indices(epoch)
        key = len(self.data), epoch
        if key not in ORDERS:
            ORDERS[key] = super().indices(epoch)
        return list(ORDERS[key])


Adapter = mutant(Loader)
