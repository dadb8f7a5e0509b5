"""Restores a state's lanes for the rest of an epoch, and then goes on with lanes of its own."""

import dataclasses
from typing import Any

from format_base import mutant, reference

EXPECTED = "DOC-11"
LARGEST = {"workers": 0, "sessions": 1, "steps": 5, "samples": 9}


class Session(reference.Session):
    def load(self, state: Any) -> None:
        own = self.loader._position.plan.lanes
        super().load(state)
        if self.w.adopts:
            position = self.loader._position
            position.plan = dataclasses.replace(position.plan, lanes=own)


Adapter = mutant(Session)
