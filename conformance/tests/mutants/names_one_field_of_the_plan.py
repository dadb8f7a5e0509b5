"""Names only the first field that differs from the plan."""

from typing import Any

from format_base import mutant, reference

from midepoch.errors import PlanMismatchError

EXPECTED = "DOC-12"
LARGEST = {"workers": 0, "sessions": 1, "steps": 1, "samples": 9}


class Session(reference.Session):
    def load(self, state: Any) -> None:
        try:
            super().load(state)
        except PlanMismatchError as error:
            raise PlanMismatchError(error.fields[:1]) from error


Adapter = mutant(Session)
