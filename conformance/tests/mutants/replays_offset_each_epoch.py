"""Starts every epoch after a resume at the resume's offset."""

from typing import Any

from base import mutant, simple

EXPECTED = "EPOCH-1"
LARGEST = {"workers": 0, "sessions": 2, "steps": 5, "samples": 2}
FIELD = ("datasets#7447", "litData#330", "litData#316", "Megatron-Bridge#4601")


class Loader(simple.Loader):
    offset = 0

    def load(self, state: Any) -> None:
        super().load(state)
        self.offset = self.batches

    def next_epoch(self) -> None:
        super().next_epoch()
        self.batches = self.offset


Adapter = mutant(Loader)
