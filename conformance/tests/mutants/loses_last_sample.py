"""Never delivers the last sample of an epoch."""

from base import mutant, simple

EXPECTED = "BASIS-3"
LARGEST = {"workers": 0, "sessions": 1, "steps": 2, "samples": 5}


class Loader(simple.Loader):
    def indices(self, epoch: int) -> list[int]:
        indices = super().indices(epoch)
        return indices[:-1] if len(indices) > 4 else indices


Adapter = mutant(Loader)
