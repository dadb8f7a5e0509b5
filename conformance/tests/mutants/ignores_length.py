"""Loads a state of a dataset of another length."""

from typing import Any

from base import mutant, simple

EXPECTED = "REFUSE-3"
LARGEST = {"workers": 0, "sessions": 2, "steps": 5, "samples": 2}
FIELD = ("another plan",)


class Loader(simple.Loader):
    def plan(self) -> dict[str, Any]:
        return {k: v for k, v in super().plan().items() if k != "length"}


Adapter = mutant(Loader)
