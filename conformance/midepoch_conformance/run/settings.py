"""The settings of a check (pure)."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path

from midepoch_conformance.verdict.results import Known

__all__ = ["Settings"]


@dataclasses.dataclass(frozen=True)
class Settings:
    """The loader to check, and how."""

    loader: str
    """A built-in loader's name, ``path/to/file.py:Adapter``, ``package.module:Adapter``, or a
    ``make_loader`` function in either form."""
    profile: str = "quick"
    """One of :data:`~midepoch_conformance.families.tables.PROFILES`."""
    python: str | None = None
    """The interpreter that has the loader; this one if None."""
    jobs: int = 0
    """How many cases are played at a time; 0: at most two."""
    only: tuple[str, ...] = ()
    """Requirement ids or class names; empty for all."""
    scripts: Path | None = None
    """The folder for the failures' scripts; None for no scripts."""
    shrink: bool | None = None
    """Whether failing cases are made smaller; None: if the profile is ``full``."""
    timeout: float | None = None
    """The seconds that a session has before the suite looks whether it hangs; None: it follows from
    the smoke run's time. See :class:`~midepoch_conformance.run.certainty.hangs.Hangs`."""
    known: tuple[Known, ...] = ()
    """Known failures: each must still fail, and does not count as a failure of the run."""

    @property
    def threads(self) -> int:
        """The number of cases that are played at a time."""
        return self.jobs or min(2, os.cpu_count() or 1)
