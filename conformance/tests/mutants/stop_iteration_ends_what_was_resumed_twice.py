"""Takes a sample's StopIteration for the end of the epoch, but only after two resumes."""

from typing import Any

from base import mutant, simple

EXPECTED = "RESUME-7"
LARGEST = {"workers": 0, "sessions": 3, "steps": 5, "samples": 1}


class Loader(simple.Loader):
    resumes = 0

    def __iter__(self) -> simple.Epoch:
        super().__iter__()
        self.live = Epoch(self)
        return self.live

    def state(self) -> dict[str, Any]:
        return {**super().state(), "resumes": self.resumes}

    def load(self, state: Any) -> None:
        super().load(state)
        self.resumes = state["resumes"] + 1


class Epoch(simple.Epoch):
    loader: Loader

    def __next__(self) -> simple.Batch:
        try:
            return super().__next__()
        except RuntimeError as error:
            if self.loader.resumes > 1 and isinstance(error.__cause__, StopIteration):
                self.loader.next_epoch()
                raise StopIteration from error
            raise


Adapter = mutant(Loader)
