"""Resumes every rank with the first rank's share."""

from typing import Any

from base import Distributed, mutant, simple

EXPECTED = "WORLD-1"
LARGEST = {"workers": 0, "sessions": 4, "steps": 14, "samples": 2}
FIELD = ("accelerate#4164", "Megatron-LM#7413", "prime-rl#1035")


class Loader(simple.Loader):
    def load(self, state: Any) -> None:
        super().load(state)
        if isinstance(self.sampler, Distributed):
            self.sampler.rank = 0


Adapter = mutant(Loader)
