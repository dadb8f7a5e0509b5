"""Leaves out fields that it does not know, whatever they meant."""

from __future__ import annotations

from typing import Any

import format_base as base

EXPECTED = "DOC-7"
LARGEST = {"workers": 0, "sessions": 1, "steps": 6, "samples": 10}


class Session(base.Session):
    def load(self, state: Any) -> None:
        if isinstance(state, dict):
            known = super().state()
            state = {k: v for k, v in state.items() if k in known}
        super().load(state)


class Adapter(base.Adapter):
    session = Session
