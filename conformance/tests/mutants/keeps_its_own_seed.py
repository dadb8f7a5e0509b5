"""Loads a state without its root seed: the next orders follow the seed that it drew itself."""

import dataclasses
from typing import Any

from format_base import mutant, reference

EXPECTED = "DOC-11"
LARGEST = {"workers": 0, "sessions": 1, "steps": 5, "samples": 7}


class Session(reference.Session):
    def load(self, state: Any) -> None:
        own = self.loader.seed
        super().load(state)
        if self.w.adopts:
            position = self.loader._position
            position.plan = dataclasses.replace(position.plan, seed=own)


Adapter = mutant(Session)
