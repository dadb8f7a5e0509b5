"""Fills its shuffle buffer anew at a resume: the rows that waited in it never come."""

from collections.abc import Iterator
from typing import Any

from base import mutant, simple

EXPECTED = "RESUME-1"
LARGEST = {"workers": 0, "sessions": 2, "steps": 5, "samples": 4}
FIELD = ("datasets#8408",)


class Buffer(simple.Buffer):
    def load_state_dict(self, state: Any) -> None:
        super().load_state_dict({**state, "kept": []})


class Loader(simple.Loader):
    def shuffled(self, rows: Iterator[Any]) -> simple.Buffer:
        return Buffer(rows, f"{self.seed}/{self.epoch}")


Adapter = mutant(Loader)
