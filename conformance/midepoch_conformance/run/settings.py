"""The settings of a check (pure)."""

from __future__ import annotations

import dataclasses
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from midepoch_conformance.verdict.results import Known

__all__ = ["Settings", "option_words", "options_of"]


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
    the smoke run's time. See :class:`~midepoch_conformance.playing.hangs.Hangs`."""
    options: tuple[str, ...] = ()
    """The further options of the command line, word by word: the report tells them, so that its
    command judges the loader again in the same way."""
    measure: bool = False
    """Whether the cost of states and resumes is measured, too."""
    known: tuple[Known, ...] = ()
    """Known failures: each must still fail, and does not count as a failure of the run."""

    def __post_init__(self) -> None:
        # At once: scripts run in other folders.
        if self.python is not None:
            found = None if os.path.dirname(self.python) else shutil.which(self.python)
            object.__setattr__(self, "python", os.path.abspath(found or self.python))

    @property
    def threads(self) -> int:
        """The number of cases that are played at a time."""
        return self.jobs or min(2, os.cpu_count() or 1)


def option_words(**given: object) -> tuple[str, ...]:
    """Return options as words of a command line; those that are None or false are left out.

    Example:
        >>> option_words(python=None, jobs=0, with_workers=3)
        ('--with-workers', '3')
    """
    words: list[str] = []
    for name, value in given.items():
        if value not in (None, 0, False):
            words.append(f"--{name.replace('_', '-')}")
            words += [] if value is True else [str(value)]
    return tuple(words)


def options_of(words: Sequence[str]) -> dict[str, str]:
    """Return the options that :func:`option_words` wrote, by name.

    Example:
        >>> options_of(("--jobs", "2", "--no-scripts"))
        {'jobs': '2', 'no_scripts': ''}
    """
    found: dict[str, str] = {}
    name = ""
    for word in words:
        if word.startswith("--"):
            name = word[2:].replace("-", "_")
        found[name] = "" if word.startswith("--") else word
    return found
