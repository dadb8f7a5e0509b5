"""Plays the rows of the matrix, each by ``midepoch check`` in a process of its own."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from midepoch_conformance.errors import CheckError
from midepoch_conformance.matrix.environments import interpreter
from midepoch_conformance.matrix.rows import Row
from midepoch_conformance.matrix.today import same_cases
from midepoch_conformance.report.file import ReportError, load_report
from midepoch_conformance.report.lines import suite_version

__all__ = ["Places", "Played", "play"]


@dataclasses.dataclass(frozen=True)
class Places:
    """The folders of the matrix."""

    locks: Path
    environments: Path
    results: Path


@dataclasses.dataclass(frozen=True)
class Played:
    """What became of a row: its report, or the reason why there is none."""

    row: Row
    path: Path | None
    trouble: str = ""
    kept: bool = False
    """Whether the report is that of an earlier run."""


def play(
    rows: tuple[Row, ...], places: Places, profile: str, again: bool = False
) -> Iterator[Played]:
    """Play each row and yield what became of it; a row that fails does not stop the others.

    A row whose report this version of the suite has written, by the cases that it has today, is
    played only ``again``. The report of an interrupted run is continued.
    """
    for row in rows:
        earlier = None if again else _of_this_suite(row, places.results, profile)
        if earlier is not None:
            yield Played(row, earlier, kept=True)
            continue
        try:
            python = interpreter(places.locks / f"{row.environment}.txt", places.environments)
            yield Played(row, _judge(row, python, places, profile))
        except CheckError as error:
            yield Played(row, None, "\n".join(filter(None, (str(error), error.hint))))


def _of_this_suite(row: Row, folder: Path, profile: str) -> Path | None:
    for path in sorted(folder.glob(f"{row.name}-[0-9]*.jsonl")):
        try:
            report = load_report(path)
        except ReportError:
            continue  # it is played again, and its file replaced
        header = report.header
        asked = (header.suite, header.profile, header.only) == (suite_version(), profile, None)
        if asked and same_cases(report):
            return path
    return None


def _judge(row: Row, python: Path, places: Places, profile: str) -> Path:
    """Judge a row's loader and return the report.

    Raises:
        CheckError: there is no verdict; the text is what ``midepoch check`` said.
    """
    places.results.mkdir(parents=True, exist_ok=True)
    part = places.results / f"{row.name}.part"
    command = [
        sys.executable, "-m", "midepoch_conformance", "check", row.adapter, "--quiet",
        "--python", os.path.relpath(python), "--profile", profile, "--json", str(part),
        "--scripts", str(places.results / "scripts" / row.name), "--measure",
    ]  # fmt: skip
    paths = [str(places.locks.absolute() / "stand_in")] if row.stand_in else []
    paths += filter(None, [os.environ.get("PYTHONPATH")])
    run = subprocess.run(
        [*command, *(["--continue"] if _interrupted(part) else [])],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    try:
        header = load_report(part).header
    except ReportError as error:
        raise CheckError(f"{row.name} has no verdict", run.stdout.strip()) from error
    version = header.loader.version or "0"
    whole = places.results / f"{row.name}-{version}.jsonl"
    part.replace(whole)
    return whole


def _interrupted(part: Path) -> bool:
    """Tell whether a file is the report of an interrupted run, with something to continue."""
    try:
        load_report(part)
    except ReportError:
        return part.is_file() and part.stat().st_size > 0
    return False
