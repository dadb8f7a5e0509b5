"""Writes null in place of the epoch of a user's sampler, and leaves the sampler as it is made."""

import copy
from typing import Any

from format_base import mutant, reference

EXPECTED = "DOC-6"
LARGEST = {"workers": 0, "sessions": 1, "steps": 5, "samples": 10}


class Session(reference.Session):
    def state(self) -> dict[str, Any]:
        state = copy.deepcopy(super().state())
        if state["sampler"] is not None:
            state["sampler"]["epoch"] = None
        return state


Adapter = mutant(Session)
