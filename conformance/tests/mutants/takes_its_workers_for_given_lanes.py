"""Takes its number of workers for lanes that it was given, and refuses a state of other lanes."""

import dataclasses
from typing import Any

from format_base import mutant, reference

EXPECTED = "DOC-11"
LARGEST = {"workers": 0, "sessions": 1, "steps": 5, "samples": 9}


class Session(reference.Session):
    def load(self, state: Any) -> None:
        if self.w.adopts:
            given = dataclasses.replace(self.loader._options, lanes=int(self.loader.num_workers))
            self.loader._options = given
        super().load(state)


Adapter = mutant(Session)
