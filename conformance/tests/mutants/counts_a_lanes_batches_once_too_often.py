"""Writes a batch too many to replay for each lane, and takes it off when it loads the state."""

import copy
from typing import Any

from format_base import mutant, reference

EXPECTED = "DOC-18"
LARGEST = {"workers": 0, "sessions": 1, "steps": 9, "samples": 1}


class Session(reference.Session):
    def state(self) -> Any:
        return _replaying(super().state(), 1)

    def load(self, state: Any) -> None:
        whole = isinstance(state, dict) and isinstance(state.get("lanes"), dict)
        super().load(_replaying(state, -1) if whole else state)


def _replaying(state: dict[str, Any], more: int) -> dict[str, Any]:
    state = copy.deepcopy(state)
    for entry in (state["lanes"] or {"entries": []})["entries"]:
        entry["replay"] += more
    return state


Adapter = mutant(Session)
