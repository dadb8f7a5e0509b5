"""The report: what its lines say, that they repeat, and what reading refuses."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console
from simulated import Engine
from test_check import TABLE

from midepoch_conformance import cases, terminal
from midepoch_conformance.case import Case
from midepoch_conformance.check import Check, run_check
from midepoch_conformance.report import (
    ReportError,
    finding_line,
    lines,
    read_report,
    settled,
    stable,
    write_report,
)
from midepoch_conformance.settings import Settings
from midepoch_conformance.verdict import Finding

Lie = Callable[[Case, int], bool]


@pytest.fixture(autouse=True)
def _table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cases, "load_table", lambda profile: list(TABLE))


def check(lie: Lie = lambda case, session: False, jobs: int = 1) -> Check:
    return run_check(Settings("simulated", jobs=jobs), opener=lambda: Engine(lie))


def ignores_loads(case: Case, session: int) -> bool:
    return session == 1


def shown(checked: Check, quiet: bool = False) -> str:
    out = io.StringIO()
    terminal.show_check(checked, Console(file=out, width=140), quiet)
    return out.getvalue()


def test_two_runs_write_the_same_lines_times_apart() -> None:
    first, second = check(jobs=1), check(jobs=3)
    assert list(map(stable, lines(first))) == list(map(stable, lines(second)))


def test_a_report_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "report.jsonl"
    checked = check(ignores_loads)
    write_report(checked, path)
    found = read_report(path)
    assert found == json.loads(json.dumps(list(lines(checked))))
    header, *middle, footer = found
    assert header["loader"]["name"] == "simulated"
    assert header["profile"] == "quick"
    assert [line["id"] for line in middle] == [case.id for case in TABLE]
    assert Case.from_json(middle[2]["case"]) == TABLE[2]
    assert footer["status"] == 1
    assert footer["failures"][0]["requirement"] == "RESUME-1"
    assert {"name": "Resume", "requirements": footer["classes"][1]["requirements"]}.items() <= (
        footer["classes"][1].items()
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "begins with its header"),
        ("{", "line 1: not JSON"),
        ("[]", "not a line of a report"),
        ('{"type": "header", "format": 99}', "format 99"),
        ('{"type": "header", "format": 1}\n{"type": "case"}', "interrupted"),
    ],
)
def test_what_is_no_report_is_refused(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "report.jsonl"
    path.write_text(text)
    with pytest.raises(ReportError, match=words):
        read_report(path)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("worker (pid 12) died", "worker (pid N) died"),
        ("worker (pid(s) 12, 13) exited", "worker (pid(s) N) exited"),
        ("at 0x7f00aa11", "at 0xN"),
        ("in /tmp/midepoch-x1/plays/3: no", "in /tmp/... no"),
        ("epoch 12, batch 3", "epoch 12, batch 3"),
    ],
)
def test_what_varies_is_taken_out(text: str, expected: str) -> None:
    assert settled(text) == expected


def test_a_passing_finding_is_its_outcome_alone() -> None:
    finding = Finding("FAULT-1", "pass", words="worker (pid 12) died, as it should")
    assert finding_line(finding) == {"requirement": "FAULT-1", "outcome": "pass"}


def test_the_table_shows_each_verdict_and_the_failures() -> None:
    text = shown(check(ignores_loads))
    assert "fails silently 4" in text
    assert "pass 2" in text
    assert "1. RESUME-1 fails silently" in text
    assert "7 samples in batches of 1, no workers: deliver 3 batches, save" in text
    assert "exact" in text
    assert "not offered:" in text
    last = text.strip().splitlines()[-1]
    assert last.startswith("simulated 1.0: ")
    assert "RESUME-1" in last


def test_the_table_of_a_loader_that_passes() -> None:
    text = shown(check())
    assert "no MUST fails" in text
    assert "fails silently" not in text


def test_quiet_is_one_line() -> None:
    assert len(shown(check(ignores_loads), quiet=True).strip().splitlines()) == 1


def test_plain_progress_says_where_it_is() -> None:
    out = io.StringIO()
    run_check(
        Settings("simulated", jobs=1),
        terminal.PlainProgress(out),
        lambda: Engine(ignores_loads),
    )
    said = out.getvalue().splitlines()
    assert said[0] == f"checking simulated 1.0: {len(TABLE)} cases"
    assert f"{len(TABLE)} of {len(TABLE)} cases, 4 failing" in said
    assert said[-1].startswith("failure 1 of 1: RESUME-1")


def test_rich_progress_leaves_no_bar() -> None:
    out = io.StringIO()
    progress = terminal.RichProgress(Console(file=out, force_terminal=True, width=80))
    try:
        run_check(Settings("simulated", jobs=1), progress, lambda: Engine(ignores_loads))
    finally:
        progress.close()
    assert "checking simulated 1.0" in out.getvalue()
