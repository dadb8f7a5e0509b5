"""Begins another epoch each time that an iterator is asked for more after its end."""

from base import mutant, simple

EXPECTED = "RESUME-7"
LARGEST = {"workers": 0, "sessions": 2, "steps": 5, "samples": 3}


class Epoch(simple.Epoch):
    asked = False

    def __next__(self) -> simple.Batch:
        try:
            return super().__next__()
        except StopIteration:
            if self.asked:
                self.loader.next_epoch()
            self.asked = True
            raise


class Loader(simple.Loader):
    def __iter__(self) -> simple.Epoch:
        super().__iter__()
        self.live = Epoch(self)
        return self.live


Adapter = mutant(Loader)
