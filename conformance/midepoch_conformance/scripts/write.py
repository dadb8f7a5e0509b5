"""The folder of the failures' scripts: each is written and run before it is reported."""

from __future__ import annotations

import contextlib
import dataclasses
import re
import threading
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from midepoch_conformance.case.adapter import LoaderInfo
from midepoch_conformance.scripts.run import (
    NO_VERDICT,
    Interpreter,
    ScriptRun,
    WarmInterpreter,
    run_script,
)
from midepoch_conformance.scripts.script import make_script
from midepoch_conformance.verdict.results import Failure

__all__ = ["Scripts"]

TIMEOUT = 120.0
"""The seconds that a script has beyond one session's limit: one may hang, and others come first."""

_SHOWN = 300
_TRIES = 3

_ONE = threading.Lock()
"""Held while a script is made: parsing in two threads at a time breaks CPython 3.11's ``ast``."""


class Scripts:
    """Writes scripts into a folder, which is made when the first is written.

    As a context, it ends the interpreters that ran them.

    Args:
        folder: the folder.
        python: the interpreter that has the loader.
    """

    def __init__(self, folder: Path, python: str | None = None) -> None:
        self._folder = folder
        self._python = python
        self._started: list[WarmInterpreter] = []
        self._idle: list[WarmInterpreter] = []

    def __enter__(self) -> Scripts:
        return self

    def __exit__(self, *error: object) -> None:
        for interpreter in self._started:
            interpreter.close()

    def add(
        self,
        failure: Failure,
        info: LoaderInfo,
        lengths: Sequence[int] | None,
        errors: Collection[str] | None = None,
        limit: float = 60.0,
    ) -> Failure:
        """Return ``failure`` with its script; ``script_note`` says if it shows nothing by itself.

        Args:
            failure: what fails.
            info: the loader.
            lengths: batches of each epoch of the uninterrupted run, if they are known.
            errors: the types of the errors that belong to the failure; None: any.
            limit: the seconds after which a session hangs.
        """
        text, ran = "", ScriptRun(NO_VERDICT, "")
        # Few failures need different seeds of hashes, each of which takes an interpreter. The whole
        # text still has the lines that specialising may have lost.
        ways = ((False, False), (False, True), (True, True))
        for whole, hashes in ways if info.offer.fork_safe else ways[1:]:
            with _ONE:
                other = make_script(
                    info,
                    failure.case,
                    failure.finding,
                    failure.words,
                    lengths,
                    whole=whole,
                    hashes=hashes,
                    errors=errors,
                    limit=limit,
                )
            # An unstable failure may take a few runs to show.
            for _ in range(_TRIES if failure.finding.outcome == "unstable" else 1):
                with self._interpreter(info.offer.fork_safe) as interpreter:
                    again = run_script(other, interpreter, TIMEOUT + limit)
                if again.status == 1:
                    break
            if not whole or again.status == 1:
                text, ran = other, again
            if ran.status == 1:
                break
        file = self.path(info.name.replace(".py:", "_"), failure)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        note = ""
        if ran.status != 1:
            last = " ".join(ran.output.split())[-_SHOWN:]
            note = f"by itself it does not show the failure (status {ran.status}): {last}"
        return dataclasses.replace(failure, script=str(file), script_text=text, script_note=note)

    @contextlib.contextmanager
    def _interpreter(self, fork_safe: bool) -> Iterator[Interpreter | WarmInterpreter]:
        """Lend an interpreter to a thread; a loader that must not be forked has a new one."""
        if not fork_safe:
            yield Interpreter(self._python)
            return
        try:
            interpreter = self._idle.pop()
        except IndexError:
            interpreter = WarmInterpreter(self._python)
            self._started.append(interpreter)
        try:
            yield interpreter
        finally:
            self._idle.append(interpreter)

    def path(self, loader: str, failure: Failure) -> Path:
        """Return the path of a failure's script; different failures have different paths."""
        finding = failure.finding
        outcome = finding.outcome if finding.outcome == "unstable" else ""
        told = (failure.workload_kinds[0], failure.feature, finding.kind, outcome)
        names = map(_word, (loader, finding.requirement, *told))
        return self._folder / f"{'_'.join(filter(None, names))}.py"


def _word(text: str) -> str:
    """Return ``text`` as part of a module's name.

    Example:
        >>> _word("RESUME-1")
        'resume_1'
    """
    return re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_").lower()
