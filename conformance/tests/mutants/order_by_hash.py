"""Shuffles by ``hash()``, so the order differs between interpreters."""

from base import mutant, simple

EXPECTED = "BASIS-2"
LARGEST = {"workers": 0, "sessions": 1, "steps": 2, "samples": 4}


class Loader(simple.Loader):
    def indices(self, epoch: int) -> list[int]:
        indices = super().indices(epoch)
        return sorted(indices, key=lambda i: hash(f"{epoch}/{i}")) if self.shuffle else indices


Adapter = mutant(Loader)
