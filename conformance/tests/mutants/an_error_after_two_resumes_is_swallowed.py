"""Leaves a batch out whose sample raises, without a word, but only after two resumes."""

from typing import Any

from base import mutant, simple

EXPECTED = "RESUME-7"
LARGEST = {"workers": 0, "sessions": 2, "steps": 5, "samples": 1}


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
        raised = len(self.loader.raised)
        try:
            return super().__next__()
        except (StopIteration, KeyboardInterrupt):
            raise
        except Exception:
            if self.loader.resumes > 1 and len(self.loader.raised) > raised:
                return next(self)
            raise


Adapter = mutant(Loader)
