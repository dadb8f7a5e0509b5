"""Takes a dataset's state of the pass before for one of the loaded epoch."""

import copy
from typing import Any

from format_base import mutant, reference

EXPECTED = "DOC-11"
LARGEST = {"workers": 0, "sessions": 1, "steps": 5, "samples": 7}


class Session(reference.Session):
    def load(self, state: Any) -> None:
        state = copy.deepcopy(state)
        lanes = state.get("lanes") if isinstance(state, dict) else None
        for entry in lanes["entries"] if isinstance(lanes, dict) and "entries" in lanes else ():
            if isinstance(entry, dict) and isinstance(entry.get("ordinal"), int):
                entry["ordinal"] = max(0, entry["ordinal"])
        super().load(state)


Adapter = mutant(Session)
