"""Becomes unusable when it refuses a state."""

from typing import Any

from base import mutant, simple

EXPECTED = "REFUSE-4"
LARGEST = {"workers": 0, "sessions": 2, "steps": 6, "samples": 1}
FIELD = ("data#1550", "data#1445")


class Loader(simple.Loader):
    broken = False

    def load(self, state: Any) -> None:
        self.broken = True
        super().load(state)
        self.broken = False

    def __iter__(self) -> simple.Epoch:
        if self.broken:
            raise RuntimeError("no state is loaded")
        return super().__iter__()


Adapter = mutant(Loader)
