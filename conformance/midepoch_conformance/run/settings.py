"""What a check is asked to do, and the error of one that cannot be run (pure)."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from midepoch_conformance.run.known import Known

__all__ = ["CheckError", "Settings"]


class CheckError(Exception):
    """A check that cannot be run: wrong usage, or an adapter that fails the smoke gate.

    Attributes:
        hint: what to do about it, or ``""``.
    """

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


@dataclasses.dataclass(frozen=True)
class Settings:
    """What to check, and how.

    Attributes:
        loader: a built-in loader's name, ``path/to/file.py:Adapter``,
            ``package.module:Adapter``, or a ``make_loader`` function in either form.
        profile: one of :data:`~midepoch_conformance.families.tables.PROFILES`.
        python: the interpreter that has the loader; this one where not given.
        jobs: how many cases are played at a time.
        only: requirement ids or class names; empty for all.
        scripts: the folder for the failures' scripts; None for no scripts.
        shrink: whether failing cases are made smaller; as the profile has it where None.
        known: failures that are known: they must fail, and are none of the run's.
    """

    loader: str
    profile: str = "quick"
    python: str | None = None
    jobs: int = 0
    only: tuple[str, ...] = ()
    scripts: Path | None = None
    shrink: bool | None = None
    known: tuple[Known, ...] = ()

    @property
    def threads(self) -> int:
        """Return how many cases are played at a time."""
        return self.jobs or min(2, os.cpu_count() or 1)
