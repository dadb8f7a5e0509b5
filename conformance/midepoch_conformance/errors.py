"""The suite's own error: the user asked for something that cannot be done (pure)."""

from __future__ import annotations

import traceback
from pathlib import Path

__all__ = ["CheckError", "own_error"]


class CheckError(Exception):
    """A command that cannot be carried out, such as wrong usage or a failed smoke gate."""

    hint: str
    """Advice for the user, or ``""``."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


def own_error(error: BaseException) -> str:
    """Return an exception of the suite's own code in words, with its place.

    Example:
        >>> try:
        ...     {}["case"]
        ... except KeyError as error:
        ...     own_error(error).partition(" (")[0]
        "KeyError: 'case'"
    """
    where = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} ({Path(where.filename).name}, line {where.lineno})"
