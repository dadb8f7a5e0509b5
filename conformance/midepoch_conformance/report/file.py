"""A report's file: written case by case, read back, continued.

An interrupted run leaves a file without a footer, whose last line may be cut. The cases that it
judged are kept: :func:`continued` reads them, and the next run plays the rest.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import os
from collections.abc import Iterator, Mapping
from importlib import resources
from pathlib import Path
from typing import IO, Any

import jsonschema

from midepoch_conformance.case.case import CaseError
from midepoch_conformance.errors import CheckError
from midepoch_conformance.report.document import Case, Document, Footer, Header
from midepoch_conformance.report.lines import (
    FORMAT,
    TIMES,
    case_of,
    document_of,
    header_of,
    result_of,
)
from midepoch_conformance.report.lines import stopped as stopped_document
from midepoch_conformance.report.wording import command_words
from midepoch_conformance.run.events import CasesJudged, Event, Found, Started
from midepoch_conformance.run.settings import options_of
from midepoch_conformance.verdict.results import CaseResult

__all__ = [
    "SCHEMA",
    "Continued",
    "ReportError",
    "ReportFile",
    "continued",
    "load_report",
    "read_report",
    "schema",
]

SCHEMA = f"report-{FORMAT}.schema.json"
"""The schema's file, beside this module."""

_NOT_COMPARED = ("cases", "offered", "table", "options", "digest", *TIMES)
"""The fields of a header that may differ between the parts of one run, or are compared apart."""

_NONE = "a report is what `midepoch check LOADER --json FILE` writes"


class ReportError(CheckError, ValueError):
    """A file that is no report, or one that cannot be used for this."""


class ReportFile:
    """Listens to a check and writes its report, each case as soon as those before it are written.

    The file is replaced when the first line is written. The loader has then answered and passed
    the smoke gate.

    Args:
        path: the file; its folder is made.
        earlier: the report that the run continues, as :func:`continued` returns it.

    Raises:
        ReportError: ``path`` cannot be written.
    """

    def __init__(self, path: Path, earlier: Continued | None = None) -> None:
        self.path = path
        self._earlier = earlier
        self._file: IO[str] | None = None
        self._waiting: dict[int, CaseResult] = {}
        self._next = self._kept = 0
        self._own = False
        self._body: int | None = None
        self._only: frozenset[str] | None = None
        _check_writable(path)

    @property
    def begun(self) -> bool:
        """Whether the file holds a part of this run's report."""
        return self._file is not None

    @property
    def kept(self) -> int:
        """How many judged cases the file holds: one that ended before an earlier one did is not."""
        return self._kept

    def __call__(self, event: Event) -> None:
        """Write the part of the report that ``event`` completes.

        Raises:
            ReportError: the report to continue is of another run.
        """
        if isinstance(event, Started) and self._file is None:
            self._begin(header_of(event.facts))
        elif isinstance(event, CasesJudged):
            self._waiting[event.result.index] = event.result
            while self._next in self._waiting:
                result = self._waiting.pop(self._next)
                self._write("case", case_of(result, self._own, self._only))
                self._next += 1
                self._kept += result.reason is None
        elif isinstance(event, Found):
            # The verdict is safe before scripts are written: that may take long.
            self._write_footer(document_of(event.check).footer)

    @property
    def whole(self) -> bool:
        """Whether the file holds a verdict; the failures' scripts may be missing."""
        return self._body is not None

    def finish(self, document: Document) -> None:
        """Write the footer and close the file."""
        self._write_footer(document.footer)
        self.close()

    def _write_footer(self, footer: Footer) -> None:
        """Write the footer, in place of an earlier one."""
        if self._file is not None and self._body is not None:
            self._file.truncate(self._body)
            self._file.seek(self._body)
        elif self._file is not None:
            self._body = self._file.tell()
        self._write("footer", footer)

    def close(self) -> None:
        """Close the file; a file without a footer is that of an interrupted run."""
        if self._file is not None:
            self._file.close()

    def _begin(self, header: Header) -> None:
        self._own = header.loader.function
        self._only = None if header.only is None else frozenset(header.only)
        if self._earlier is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self.path.open("w", encoding="utf-8")
            self._write("header", header)
            return
        self._earlier.check_header(header)
        self._next = len(self._earlier.results)
        self._kept = sum(result.reason is None for result in self._earlier.results)
        # A cut line is dropped only now: the rest is known to be of this run.
        os.truncate(self.path, self._earlier.size)
        self._file = self.path.open("a", encoding="utf-8")

    def _write(self, kind: str, part: Header | Case | Footer) -> None:
        if self._file is None:
            raise ReportError(f"{self.path}: a report begins with its header")
        line = {"type": kind, **part.to_json()}
        self._file.write(json.dumps(line, ensure_ascii=False) + "\n")
        self._file.flush()


@dataclasses.dataclass(frozen=True)
class Continued:
    """An interrupted run's report."""

    path: Path
    header: Mapping[str, Any]
    """Its first line."""
    results: list[CaseResult]
    """The results of its cases, in the table's order."""
    size: int
    """The size of its whole lines, in bytes."""

    @property
    def options(self) -> dict[str, str]:
        """The options of its command line that were not left at their defaults, by name."""
        only = self.header["only"]
        return {
            "profile": self.header["profile"],
            **({"only": ",".join(only)} if only else {}),
            **options_of(self.header.get("options", ())),
        }

    def check_header(self, header: Header) -> None:
        """Make sure that the report is of the run that ``header`` begins.

        Raises:
            ReportError: it is of another run; the text names the differences.
        """
        now = json.loads(json.dumps({"type": "header", **header.to_json()}))
        differing = list(_differing(self.header, now))
        if differing:
            raise ReportError(
                f"{self.path} is the report of another run: {'; '.join(differing)}",
                "leave --continue out to start over, or name another file",
            )


def continued(path: Path) -> Continued:
    """Read the report of an interrupted run, to continue it; a cut last line is left out.

    Raises:
        ReportError: there is none, it cannot be read, or it is complete.
    """
    data = _bytes(path)
    whole = data[: data.rfind(b"\n") + 1]
    lines = list(_lines(path, whole.decode("utf-8", "replace")))
    if lines and lines[-1]["type"] == "footer":
        raise ReportError(
            f"{path} is complete (status {lines[-1]['status']}): there is nothing to continue",
            "leave --continue out to judge everything again",
        )
    _check_order(path, lines, interrupted=True)
    header, *cases = lines
    if header["cases"] is None:
        raise ReportError(
            f"{path} is a report of `midepoch explore`, which has no table to continue",
            "explore with the same --seed draws the same cases",
        )
    results = [_result(path, number, line) for number, line in enumerate(cases, start=2)]
    return Continued(path, header, results, len(whole))


def load_report(path: Path, stopped: bool = False) -> Document:
    """Read a report.

    Args:
        path: its file.
        stopped: whether the report of a run that was stopped is read as well.

    Raises:
        ReportError: the file is no report, or the run was stopped.
    """
    header, *cases = read_report(path, interrupted=True)
    if cases and cases[-1]["type"] == "footer":
        return Document.from_json(header, cases[:-1], cases[-1])
    begun = Header.from_json(header)
    if stopped:
        for number, line in enumerate(cases, start=2):
            _result(path, number, line)
        return stopped_document(begun, tuple(map(Case.from_json, cases)))
    of = "" if begun.offered is None else f" of {begun.offered:,}"
    judged = sum(case.get("not_offered") is None for case in cases)
    command = f"{command_words(begun)} --json {path}"
    raise ReportError(
        f"{path}: the run was interrupted after {judged:,}{of} cases: the report has no footer, "
        "so it has no verdict",
        f"`{command}` draws the same cases again"
        if begun.cases is None
        else f"`{command} --continue` judges the rest",
    )


def read_report(path: Path, interrupted: bool = False) -> list[dict[str, Any]]:
    """Read a report's lines.

    Args:
        path: its file.
        interrupted: whether a report without a footer is accepted; its cut last line is left out.

    Raises:
        ReportError: the file is no report, has another form, or ends before its footer; the
            text names the line and the field.
    """
    text = _bytes(path).decode("utf-8", "replace")
    if interrupted and not text.endswith("\n"):
        text = text[: text.rfind("\n") + 1]
    lines = list(_lines(path, text))
    _check_order(path, lines, interrupted)
    return lines


@functools.lru_cache(maxsize=1)
def schema() -> dict[str, Any]:
    """Return the JSON Schema of a report's line."""
    text = resources.files("midepoch_conformance.report").joinpath(SCHEMA).read_text("utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


@functools.lru_cache(maxsize=3)
def _validator(kind: str) -> jsonschema.Draft202012Validator:
    name = "case_line" if kind == "case" else kind
    one = {key: schema()[key] for key in ("$schema", "$defs")}
    one["$ref"] = f"#/$defs/{name}"
    return jsonschema.Draft202012Validator(one)


def _lines(path: Path, text: str) -> Iterator[dict[str, Any]]:
    # Not splitlines(): texts may hold other characters that it takes for line ends.
    for number, part in enumerate(text.removesuffix("\n").split("\n") if text else [], start=1):
        where = f"{path}, line {number}"
        try:
            line = json.loads(part)
        except json.JSONDecodeError as error:
            raise ReportError(f"{where}: not JSON: {error}", _NONE) from error
        if not isinstance(line, dict) or line.get("type") not in ("header", "case", "footer"):
            raise ReportError(f"{where}: not a line of a report: {part[:80]}", _NONE)
        if line["type"] == "header" and line.get("format") != FORMAT:
            raise ReportError(
                f"{where}: the report's format is {line.get('format')!r}, and this suite reads "
                f"{FORMAT}",
                "judge the loader again, or read it with the suite that wrote it",
            )
        _validate(where, line)
        yield line


def _validate(where: str, line: dict[str, Any]) -> None:
    error = jsonschema.exceptions.best_match(_validator(line["type"]).iter_errors(line))
    if error is not None:
        field = ".".join(map(str, error.absolute_path)) or f"the {line['type']}"
        words = error.message if len(error.message) <= 300 else error.message[:300] + "..."
        raise ReportError(f"{where}: {field}: {words}", _NONE)


def _check_order(path: Path, lines: list[dict[str, Any]], interrupted: bool) -> None:
    """Make sure that the lines are a header, the cases in order and a footer."""
    if not lines or lines[0]["type"] != "header":
        raise ReportError(f"{path}: a report begins with its header", _NONE)
    for number, line in enumerate(lines[1:], start=2):
        last = number == len(lines)
        if line["type"] == "header" or (line["type"] == "footer" and not last):
            raise ReportError(f"{path}, line {number}: a {line['type']} in the middle of a report")
        if line["type"] == "case" and line["index"] != number - 2:
            raise ReportError(
                f"{path}, line {number}: index: case {number - 2} is missing: this is number "
                f"{line['index']}"
            )
    if lines[-1]["type"] != "footer":
        if not interrupted:
            raise ReportError(
                f"{path}: no footer: the run was interrupted",
                "`midepoch check LOADER --json FILE --continue` continues it",
            )
    elif lines[-1]["cases"] != len(lines) - 2:
        raise ReportError(
            f"{path}, line {len(lines)}: cases: the footer tells of {lines[-1]['cases']}, and the "
            f"report has {len(lines) - 2}"
        )


def _result(path: Path, number: int, line: dict[str, Any]) -> CaseResult:
    try:
        result = result_of(Case.from_json(line))
    except CaseError as error:
        raise ReportError(f"{path}, line {number}: case: {error}") from error
    if result.case.id != line["id"]:
        raise ReportError(
            f"{path}, line {number}: id: the case is {result.case.id} and not {line['id']}"
        )
    return result


def _differing(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    """Yield the differences of two headers, in words."""
    for name in dict.fromkeys([*old, *new]):
        before, now = old.get(name), new.get(name)
        if before == now or name in _NOT_COMPARED:
            continue
        if isinstance(before, dict) and isinstance(now, dict):
            yield from (f"{name}.{words}" for words in _differing(before, now))
        else:
            yield f"{name} was {before!r}, is {now!r}"
    if old.get("loader", {}).get("digest") != new.get("loader", {}).get("digest"):
        yield "the loader's file has been edited"
    if old.get("table") != new.get("table"):
        yield "the table has other cases"


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise ReportError(f"{path}: there is no such report", _NONE) from None
    except OSError as error:
        raise ReportError(f"{path} cannot be read: {error.strerror}", _NONE) from error


def _check_writable(path: Path) -> None:
    if path.is_dir():
        raise ReportError(f"{path} is a folder", "name a file")
    there = path if path.exists() else next(p for p in path.absolute().parents if p.exists())
    if not there.is_dir() and not path.exists():
        raise ReportError(f"{path}: {there} is not a folder", "name a file in a folder")
    if not os.access(there, os.W_OK):
        raise ReportError(f"{path} cannot be written", "name a file in a folder of your own")
