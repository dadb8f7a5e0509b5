"""Breaks out of an epoch correctly once: after the second break an epoch starts in its middle."""

from base import mutant, simple

EXPECTED = "EPOCH-5"
LARGEST = {"workers": 0, "sessions": 1, "steps": 6, "samples": 1}
FIELD = ("litData#649", "litData#760")


class Loader(simple.Loader):
    breaks = 0

    def __iter__(self) -> simple.Epoch:
        offset = self.batches
        broken = self.moved
        self.breaks += broken
        if broken:
            self.next_epoch()
        if broken and self.breaks > 1:
            self.batches = offset
        return super().__iter__()


Adapter = mutant(Loader)
