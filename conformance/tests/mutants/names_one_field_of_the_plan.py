"""Names the first field that differs, and not the others."""

from __future__ import annotations

from typing import Any

import format_base as base

from midepoch.errors import PlanMismatchError

EXPECTED = "DOC-12"
LARGEST = {"workers": 0, "sessions": 2, "steps": 4, "samples": 1}


class Session(base.Session):
    def load(self, state: Any) -> None:
        try:
            super().load(state)
        except PlanMismatchError as error:
            raise PlanMismatchError(error.fields[:1]) from error


class Adapter(base.Adapter):
    session = Session
