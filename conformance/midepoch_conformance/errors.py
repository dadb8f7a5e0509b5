"""The suite's own error: the user asked for something that cannot be done (pure)."""

from __future__ import annotations

__all__ = ["CheckError"]


class CheckError(Exception):
    """A command that cannot be carried out, such as wrong usage or a failed smoke gate."""

    hint: str
    """Advice for the user, or ``""``."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint
