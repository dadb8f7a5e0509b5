"""Checks a loaded state only when it is iterated."""

from typing import Any

from format_base import mutant, reference

EXPECTED = "DOC-13"
LARGEST = {"workers": 0, "sessions": 1, "steps": 6, "samples": 1}
FIELD = ("data#1550", "data#1445")


class Session(reference.Session):
    pending: Any = None
    waits = False

    def load(self, state: Any) -> None:
        self.pending, self.waits = state, True

    def state(self) -> dict[str, Any]:
        self.settle()
        return super().state()

    def epoch(self) -> Any:
        self.settle()
        return super().epoch()

    def settle(self) -> None:
        if self.waits:
            self.waits = False
            super().load(self.pending)


Adapter = mutant(Session)
