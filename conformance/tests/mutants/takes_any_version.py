"""Takes a state of another version for one of its own."""

from __future__ import annotations

from typing import Any

import format_base as base

EXPECTED = "DOC-8"
LARGEST = {"workers": 0, "sessions": 1, "steps": 10, "samples": 10}


class Session(base.Session):
    def load(self, state: Any) -> None:
        if isinstance(state, dict) and "version" in state:
            state = {**state, "version": 1}
        super().load(state)


class Adapter(base.Adapter):
    session = Session
