"""Drops a loaded position when an iterator is made, even if no batch is taken from it."""

from collections.abc import Iterator
from typing import Any

from format_base import mutant, reference

EXPECTED = "RESUME-7"
LARGEST = {"workers": 0, "sessions": 2, "steps": 6, "samples": 2}
FIELD = ("pytorch-lightning#20550",)


class Session(reference.Session):
    pending: dict[str, Any] | None = None
    opened = False

    def load(self, state: Any) -> None:
        super().load(state)
        self.pending, self.opened = state, False

    def epoch(self) -> Iterator[Any]:
        if self.pending is not None and self.opened:
            start = {**self.pending["position"], "batches": 0, "samples": 0}
            super().load({**self.pending, "position": start})
            self.pending = None
        self.opened = True
        return map(self.taken, super().epoch())

    def taken(self, batch: Any) -> Any:
        self.pending = None
        return batch


Adapter = mutant(Session)
