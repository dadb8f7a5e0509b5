"""Right after a load, hands out the object from which its next epoch will be read."""

from typing import Any

from base import mutant, simple

EXPECTED = "STATE-2"
LARGEST = {"workers": 0, "sessions": 3, "steps": 13, "samples": 3}


class Loader(simple.Loader):
    loaded: dict[str, Any] | None = None

    def load(self, state: Any) -> None:
        super().load(state)
        self.loaded = super().state()

    def state(self) -> dict[str, Any]:
        return super().state() if self.loaded is None else self.loaded

    def fetches(self) -> Any:
        if self.loaded is not None:
            self.epoch, self.batches = self.loaded["epoch"], self.loaded["batches"]
            self.loaded = None
        return super().fetches()


Adapter = mutant(Loader)
