"""Remembers the epoch that the caller has named when a state of an earlier one is loaded."""

from typing import Any

from format_base import mutant, reference

EXPECTED = "EPOCH-8"
LARGEST = {"workers": 0, "sessions": 1, "steps": 9, "samples": 1}


class Session(reference.Session):
    named = 0

    def name_epoch(self, epoch: int) -> None:
        super().name_epoch(epoch)
        self.named = epoch

    def load(self, state: Any) -> None:
        super().load(state)
        if self.named:
            super().name_epoch(self.named)


Adapter = mutant(Session)
