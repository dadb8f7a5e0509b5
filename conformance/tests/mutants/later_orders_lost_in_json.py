"""Keeps the next epochs' orders in its state under integers, and finds none of them after JSON."""

from typing import Any

from base import mutant, simple

EXPECTED = "STATE-3"
LARGEST = {"workers": 0, "sessions": 2, "steps": 5, "samples": 4}


class Loader(simple.Loader):
    shuffles: dict[int, bool] | None = None

    def state(self) -> dict[str, Any]:
        return {**super().state(), "shuffles": dict.fromkeys(range(self.epoch, 9), True)}

    def load(self, state: Any) -> None:
        super().load(state)
        self.shuffles = dict(state["shuffles"])
        self.shuffles.setdefault(self.epoch, True)

    def indices(self, epoch: int) -> list[int]:
        if self.shuffles is not None and epoch not in self.shuffles:
            return list(range(len(self.data)))
        return super().indices(epoch)


Adapter = mutant(Loader)
