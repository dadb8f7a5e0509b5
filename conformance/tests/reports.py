"""Reports to make pages of: written by a real run on a simulated loader, and made hostile."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

from simulated import Engine
from test_check import TABLE

from midepoch_conformance.case.case import Case
from midepoch_conformance.families import tables
from midepoch_conformance.report.document import Document
from midepoch_conformance.report.file import ReportFile, load_report
from midepoch_conformance.report.lines import document_of
from midepoch_conformance.run.check import run_check
from midepoch_conformance.run.settings import Settings
from midepoch_conformance.search import steering
from midepoch_conformance.verdict.results import Known

Lie = Callable[[Case, int], bool]

PAYLOAD = (
    "</script><img src=x onerror=alert(1)>'\"&`|*_[a](javascript:alert(1))\x1b[31m\u202e@all #1"
)
"""A loader's name that is more than text wherever it is shown unescaped."""

_KEPT = frozenset({"type", "id", "table", "requirement", "outcome", "do", "probe", "started"})
"""Fields that the schema, or the suite itself, gives a closed form."""


def truthful(case: Case, session: int) -> bool:
    return False


def ignores_loads(case: Case, session: int) -> bool:
    return session == 1


def simulated_report(path: Path, lie: Lie = ignores_loads, known: Sequence[Known] = ()) -> Document:
    """Write the report of the simulated loader to ``path`` and read it back."""
    settings = Settings("simulated", jobs=1, known=tuple(known))
    few = mock.patch.object(steering, "BUDGETS", {"quick": (0, 0, 0)})
    with few, mock.patch.object(tables, "load_table", return_value=list(TABLE)):
        report = ReportFile(path)
        check = run_check(settings, report, lambda: Engine(lie))
        report.finish(document_of(check))
    return load_report(path)


def rewritten(path: Path, to: Path, change: Callable[[list[dict[str, Any]]], None]) -> Path:
    """Write the report at ``path`` to ``to``, changed in place by ``change``, numbered anew."""
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    change(lines)
    told = [line for line in lines if line["type"] == "case"]
    for number, line in enumerate(told):
        line["index"] = number
    if lines[-1]["type"] == "footer":
        lines[-1]["cases"] = len(told)
    to.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return to


def make_stable(lines: list[dict[str, Any]]) -> None:
    """Replace the versions and times, which differ from run to run."""
    lines[0] |= {"suite": "1.0", "spec": "1.0", "started": "2026-01-02T03:04:05+00:00"}
    lines[0]["drawn"]["by"] = "hypothesis 6"
    for line in lines[1:]:
        line["seconds"] = 1.5


def make_mixed(lines: list[dict[str, Any]]) -> None:
    """Add a case of each other outcome, and known failures: one holds, two do not."""
    refused, broken = ({"requirement": "RESUME-1", "words": words} for words in ("no", "lost"))
    lines[3]["findings"] = [refused | {"outcome": "refused"}]
    lines[4]["findings"] = [broken | {"outcome": "error", "kind": "adapter"}]
    footer = lines[-1]
    failure = footer["failures"].pop()
    entry = {k: failure[k] for k in ("requirement", "outcome", "kind", "words", "id", "case")}
    entry |= {"reason": "<i>why", "where": "known.toml, entry 1", "holds": True, "cases": 4}
    entry |= {"workload_kinds": ["map"], "link": "https://example.org/a?b=1&c=2"}
    gone = {"link": "javascript:alert(1)", "holds": False, "outcome": "pass", "kind": "x"}
    unjudged = {"link": "ftp://x", "holds": False, "outcome": "error", "kind": "adapter"}
    footer |= {"known": [entry, {**entry, **gone}, {**entry, **unjudged}], "status": 1}


def make_hostile(lines: list[dict[str, Any]]) -> None:
    """Put the payload into every text of a report that a loader can choose."""
    for line in lines:
        _spoil(line)


def _spoil(value: Any) -> None:
    if isinstance(value, dict):
        for name, inner in value.items():
            if isinstance(inner, str) and name not in _KEPT:
                value[name] = PAYLOAD
            elif name not in ("case", "counts", "requirements", "classes", "only", "blocked"):
                _spoil(inner)
        if set(value) >= {"name", "requirements", "words"}:  # a class: its name is the suite's
            value["name"] = "Resume"
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            if isinstance(inner, str):
                value[index] = PAYLOAD
            else:
                _spoil(inner)
