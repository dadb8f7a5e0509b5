"""Counts the batch that an interrupt cut short as delivered."""

from base import mutant, simple

EXPECTED = "FAULT-12"
LARGEST = {"workers": 0, "sessions": 1, "steps": 4, "samples": 1}


class Loader(simple.Loader):
    def __iter__(self) -> simple.Epoch:
        super().__iter__()
        self.live = Epoch(self)
        return self.live


class Epoch(simple.Epoch):
    def interrupted(self) -> None:
        super().interrupted()
        self.loader.advance()


Adapter = mutant(Loader)
