"""Names the next lane by the number of the worker that will make its batch."""

import copy
from typing import Any

from format_base import mutant, reference

EXPECTED = "DOC-2"
LARGEST = {"workers": 3, "sessions": 2, "steps": 10, "samples": 2}


class Session(reference.Session):
    def state(self) -> dict[str, Any]:
        state = copy.deepcopy(super().state())
        if state["lanes"] is not None and self.loader.num_workers:
            state["lanes"]["next"] %= self.loader.num_workers
        return state


Adapter = mutant(Session)
