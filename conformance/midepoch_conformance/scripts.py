"""The folder of the failures' scripts: each is written and run before it is reported."""

from __future__ import annotations

import dataclasses
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from midepoch_conformance.events import Failure
from midepoch_conformance.runner import LoaderInfo
from midepoch_conformance.script import make_script, run_script

__all__ = ["Scripts"]

TIMEOUT = 120.0
"""Seconds that a script has: some show a hang, several sessions long."""

_SHOWN = 300


class Scripts:
    """Writes scripts into a folder, which is made when the first is written.

    Args:
        folder: the folder.
        python: the interpreter that has the loader.
    """

    def __init__(self, folder: Path, python: str | None = None) -> None:
        self._folder = folder
        self._python = python or sys.executable

    def add(self, failure: Failure, info: LoaderInfo, lengths: Sequence[int] | None) -> Failure:
        """Return ``failure`` with its script; ``script_note`` says if it shows nothing by itself.

        Args:
            failure: what fails.
            info: the loader.
            lengths: batches of each epoch of the uninterrupted run, where they are known.
        """
        text = make_script(info, failure.case, failure.finding, failure.words, lengths)
        ran = run_script(text, self._python, TIMEOUT)
        path = self._path(info.name, failure)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        note = ""
        if ran.status != 1:
            last = " ".join(ran.output.split())[-_SHOWN:]
            note = f"by itself it does not show the failure (status {ran.status}): {last}"
        return dataclasses.replace(failure, script=str(path), script_note=note)

    def _path(self, loader: str, failure: Failure) -> Path:
        finding = failure.finding
        parts = (loader, finding.requirement, failure.workload_kinds[0], finding.kind)
        return self._folder / f"{'_'.join(map(_word, parts))}.py"


def _word(text: str) -> str:
    """Return ``text`` as part of a module's name.

    Example:
        >>> _word("RESUME-1")
        'resume_1'
    """
    return re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_").lower()
