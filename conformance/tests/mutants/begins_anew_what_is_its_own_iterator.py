"""Restores a dataset that is its own iterator, then calls iter() on it, which restarts it."""

from base import mutant, simple

EXPECTED = "RESUME-1"
LARGEST = {"workers": 0, "sessions": 2, "steps": 5, "samples": 2}
FIELD = ("data#1258", "data#1259", "data#1279")


class Loader(simple.Loader):
    def restore(self) -> int:
        done = super().restore()
        if self.rows is self.copy and done:
            self.rows = iter(self.copy)
        return done


Adapter = mutant(Loader)
