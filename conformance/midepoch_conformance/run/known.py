"""Known failures: a file in a loader's project that lists accepted failures, with reasons.

Each entry names a requirement, a link, a reason and a case. The case is replayed first and must
still fail: an entry whose case passes now breaks the run, so that the list stays current. Other
failures of the same requirement on the same sort of workload are then *known* as well.
"""

from __future__ import annotations

import dataclasses
import json
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from midepoch_conformance import judges
from midepoch_conformance.case.case import Case, CaseError
from midepoch_conformance.case.words import describe, sort_of
from midepoch_conformance.errors import CheckError
from midepoch_conformance.families import tables
from midepoch_conformance.search.shrink import size
from midepoch_conformance.text import meant, without_process_ids
from midepoch_conformance.verdict import requirements
from midepoch_conformance.verdict.finding import Finding
from midepoch_conformance.verdict.results import CaseResult, Check, Known, Replayed, failing

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["KnownError", "cover", "known_text", "load_known", "replay", "unknown_failures"]

FIELDS = ("requirement", "link", "reason", "case")
"""The fields of an entry; all are needed."""

_PLAYS = 3
"""How many times a case must not fail before its entry counts as changed."""
_ID = re.compile(r"[0-9a-f]{12}")
_EMPTY = "TODO"
"""The mark that `--write-known` leaves for a person; an entry that still has it is refused."""
_WIDTH = 96


class KnownError(CheckError, ValueError):
    """A file of known failures that cannot be read; the text names the file and the entry."""


def replay(judge: Callable[[Case], CaseResult], entry: Known) -> Replayed:
    """Judge an entry's case; a case that does not fail is judged again, to be sure."""
    for _ in range(_PLAYS):
        found = next(f for f in judge(entry.case).findings if f.requirement == entry.requirement)
        if failing(found) or found.outcome in ("not offered", "error"):
            break
    return Replayed(entry, found)


def cover(
    known: Sequence[Replayed], results: Iterable[CaseResult]
) -> tuple[list[Replayed], list[CaseResult]]:
    """Return the entries with the failures that they cover, and the results without these."""
    covered: list[list[Case]] = [[] for _ in known]
    left = []
    for result in results:
        kept = []
        for finding in result.findings:
            number = next(
                (n for n, entry in enumerate(known) if entry.covers(result.case, finding)), None
            )
            if number is not None and failing(finding):
                covered[number].append(result.case)
            else:
                kept.append(finding)
        left.append(dataclasses.replace(result, findings=tuple(kept)))
    counted = [
        dataclasses.replace(
            entry,
            cases=len(found),
            workload_kinds=tuple(dict.fromkeys(case.workload.kind for case in found)),
        )
        for entry, found in zip(known, covered, strict=True)
    ]
    return counted, left


def unknown_failures(check: Check) -> list[tuple[Case, Finding]]:
    """Return all failing findings of a check that no known failure covers."""
    _, left = cover(check.known, check.results)
    return [(r.case, finding) for r in left for finding in filter(failing, r.findings)]


def load_known(path: Path) -> list[Known]:
    """Read a file of known failures.

    Raises:
        KnownError: it cannot be read, or an entry is invalid.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise KnownError(f"{path}: there is no such file of known failures", _FORM) from None
    except (OSError, UnicodeDecodeError) as error:
        raise KnownError(f"{path} cannot be read: {error}", _FORM) from error
    except tomllib.TOMLDecodeError as error:
        raise KnownError(f"{path} is not TOML: {error}", _FORM) from error
    unknown = sorted(set(data) - {"known"})
    if unknown:
        raise KnownError(f"{path}: unknown key {unknown[0]!r}; entries are [[known]]", _FORM)
    entries = data.get("known", [])
    if not isinstance(entries, list):
        raise KnownError(f"{path}: known must be a list of tables: write [[known]]", _FORM)
    found = [_entry(path, number, entry) for number, entry in enumerate(entries, start=1)]
    seen: dict[tuple[str, str], Known] = {}
    for entry in found:
        same = seen.setdefault((entry.requirement, entry.case.id), entry)
        if same is not entry:
            raise KnownError(f"{entry.where}: the same requirement and case as in {same.where}")
    return found


def known_text(failures: Iterable[tuple[Case, Finding]], own: bool = False) -> str:
    """Return entries for failures, one for each requirement and sort of workload.

    A person fills in link and reason: an entry is refused until then.
    """
    smallest: dict[tuple[str, str, str], tuple[Case, Finding]] = {}
    for case, finding in failures:
        key = (finding.requirement, *sort_of(case))
        if key not in smallest or _weight(case, finding) < _weight(*smallest[key]):
            smallest[key] = case, finding
    return _HEAD + "".join(_text(case, finding, own) for case, finding in smallest.values())


def _weight(case: Case, finding: Finding) -> tuple[int, tuple[int, ...], str]:
    # An entry with an error covers no silent failure, so silent failures come first; unstable last.
    order = ("fails silently", "fails", "unstable").index(finding.outcome)
    return order, size(case), case.id


def _text(case: Case, finding: Finding, own: bool) -> str:
    told = (describe(case, own), f"{finding.outcome}: {finding.words}")
    lines = [
        "",
        *(line for text in told for line in _comment(without_process_ids(text))),
        "[[known]]",
        f'requirement = "{finding.requirement}"',
        f'link = "{_EMPTY}"',
        f'reason = "{_EMPTY}"',
        f"case = '''{json.dumps(case.to_json())}'''",
    ]
    return "\n".join(lines) + "\n"


def _comment(text: str) -> list[str]:
    """Return text as a comment, where TOML allows no control characters either."""
    printable = "".join(c if c.isprintable() else " " for c in text)
    return [f"# {line}" for line in textwrap.wrap(" ".join(printable.split()), _WIDTH)]


_HEAD = """\
# Known failures of a loader, for `midepoch check LOADER --known FILE`: each must still fail.
# Fill in the address where each is described (link) and why it is accepted (reason).
"""
_FORM = "`midepoch check LOADER --write-known FILE` writes such a file"


def _entry(path: Path, number: int, entry: Any) -> Known:
    where = f"{path}, entry {number}"
    if not isinstance(entry, dict):
        raise KnownError(f"{where}: not a table: write [[known]]", _FORM)
    if isinstance(entry.get("requirement"), str):
        where = f"{where} ({entry['requirement']})"
    unknown = sorted(set(entry) - set(FIELDS))
    if unknown:
        raise KnownError(
            f"{where}: unknown key {unknown[0]!r}; an entry has {', '.join(FIELDS)}",
            meant(unknown[0], FIELDS) or _FORM,
        )
    for field in FIELDS:
        if field not in entry:
            raise KnownError(f"{where}: {field} is missing", _FORM)
        if not isinstance(entry[field], str):
            raise KnownError(f"{where}: {field} must be text, not {entry[field]!r}", _FORM)
    return _checked(where, entry)


def _checked(where: str, entry: dict[str, str]) -> Known:
    requirement, link, reason = (entry[name].strip() for name in FIELDS[:3])
    if requirement not in requirements.load():
        raise KnownError(
            f"{where}: unknown requirement {requirement!r}",
            meant(requirement, requirements.load()) or "`midepoch list` shows all of them",
        )
    if not re.fullmatch(r"https?://\S+", link):
        raise KnownError(
            f"{where}: link must be the address (https://...) of a page on the failure, "
            f"not {link!r}"
        )
    if not reason or reason.upper().startswith(_EMPTY):
        raise KnownError(f"{where}: reason must say why the failure is accepted, not {reason!r}")
    case = _case(where, entry["case"].strip())
    if requirement not in judges.applicable(case):
        told = ", ".join(judges.applicable(case)) or "no requirement"
        raise KnownError(f"{where}: case: it is judged for {told}, not for {requirement}")
    return Known(requirement, link, reason, case, where.partition(" (")[0])


def _case(where: str, text: str) -> Case:
    if _ID.fullmatch(text):
        for profile in tables.PROFILES:
            for case in tables.load_table(profile):
                if case.id == text:
                    return case
        raise KnownError(
            f"{where}: case: no table has a case {text!r}",
            "tables change with the suite: keep the case itself, as JSON",
        )
    try:
        data = json.loads(text)
        if not isinstance(data, dict) or set(data) != {"probe", "workload", "sessions"}:
            raise CaseError("it has a probe, a workload and sessions")
        case = Case.from_json(data)
        if not case.sessions:
            raise CaseError("it has no session")
        return case
    except (json.JSONDecodeError, CaseError, AttributeError, ValueError) as error:
        raise KnownError(
            f"{where}: case: neither a case as JSON nor the id of one: {error}", _FORM
        ) from error
