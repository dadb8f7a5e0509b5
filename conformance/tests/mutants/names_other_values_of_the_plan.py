"""Names each field that differs from the plan, with values ten times too large."""

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
            raise PlanMismatchError(
                [(n, _wrong(a), _wrong(b)) for n, a, b in error.fields]
            ) from error


def _wrong(value: object) -> object:
    return 10 * value if type(value) is int else value


Adapter = mutant(Session)
