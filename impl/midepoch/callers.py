"""Warnings that point at the line of the user's program, however deep they arise."""

from __future__ import annotations

import sys
import warnings
from types import FrameType

__all__ = ["warn"]

_PACKAGE = __name__.partition(".")[0]


def warn(text: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the innermost caller that is not of this package."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and _of_this_package(frame):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, category, stacklevel=level)


def _of_this_package(frame: FrameType) -> bool:
    name = str(frame.f_globals.get("__name__", ""))
    return name.partition(".")[0] == _PACKAGE
