"""Makes a batch again that an interrupt cut short: nobody hears of the interrupt."""

from base import mutant, simple

EXPECTED = "FAULT-9"
LARGEST = {"workers": 0, "sessions": 1, "steps": 3, "samples": 1}


class Epoch(simple.Epoch):
    def __next__(self) -> simple.Batch:
        try:
            return super().__next__()
        except KeyboardInterrupt:
            return super().__next__()


class Loader(simple.Loader):
    def __iter__(self) -> Epoch:
        super().__iter__()
        self.live = Epoch(self)
        return self.live


Adapter = mutant(Loader)
