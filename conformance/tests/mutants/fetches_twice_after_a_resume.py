"""Once a state was loaded, fetches each batch twice."""

from typing import Any

from base import mutant, simple

EXPECTED = "COST-5"
LARGEST = {"workers": 0, "sessions": 2, "steps": 12, "samples": 7}


class Loader(simple.Loader):
    loaded = False

    def load(self, state: Any) -> None:
        super().load(state)
        self.loaded = True

    def fetch(self, epoch: int, k: int, indices: list[int]) -> simple.Batch:
        if self.loaded and not hasattr(self.data, "state_dict"):
            super().fetch(epoch, k, indices)
        return super().fetch(epoch, k, indices)


Adapter = mutant(Loader)
