"""Does not save the epoch: it resumes at the right position in the wrong order."""

from typing import Any

from base import mutant, simple

EXPECTED = "EPOCH-4"
LARGEST = {"workers": 0, "sessions": 2, "steps": 6, "samples": 4}
FIELD = ("accelerate#4195", "verl#3457", "streaming#869", "accelerate#4071", "data#1513")


class Loader(simple.Loader):
    def state(self) -> dict[str, Any]:
        return {**super().state(), "epoch": 0}


Adapter = mutant(Loader)
