"""Refuses a state that does not fit its data by an error that callers cannot tell from others."""

from collections.abc import Iterator
from typing import Any

from format_base import mutant, reference

from midepoch.errors import ReplayMismatchError

EXPECTED = "DOC-9"
LARGEST = {"workers": 0, "sessions": 1, "steps": 2, "samples": 3}


class Session(reference.Session):
    def epoch(self) -> Iterator[Any]:
        try:
            yield from super().epoch()
        except ReplayMismatchError as error:
            raise RuntimeError(str(error)) from error


Adapter = mutant(Session)
