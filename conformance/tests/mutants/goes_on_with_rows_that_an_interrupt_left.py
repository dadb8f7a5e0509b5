"""Goes on with the same dataset after an interrupt: it remembers rows that nobody received."""

from base import mutant, simple

EXPECTED = "FAULT-12"
LARGEST = {"workers": 0, "sessions": 1, "steps": 4, "samples": 1}


class Epoch(simple.Epoch):
    def interrupted(self) -> None:
        super().interrupted()
        self.loader.left = self.loader.random_access


class Loader(simple.Loader):
    left = False

    def __iter__(self) -> simple.Epoch:
        super().__iter__()
        self.live, self.left = Epoch(self), False
        return self.live

    def restore(self) -> int:
        if self.left:
            self.left = False
            return self.batches
        return super().restore()


Adapter = mutant(Loader)
