"""``midepoch diff``: what broke, what was fixed, what is not comparable, and the exit status."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt
from reports import PAYLOAD, make_hostile, rewritten, simulated_report, truthful
from rich.console import Console
from test_report_page import Page

from midepoch_conformance.cli import main
from midepoch_conformance.report.diff import (
    SORTS,
    NotComparableError,
    ReportDiff,
    diff_markdown,
    report_diff,
    show_diff,
)
from midepoch_conformance.report.file import load_report
from midepoch_conformance.text import printable

Lines = list[dict[str, Any]]


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("good") / "good.jsonl"
    simulated_report(path, truthful)
    return path


@pytest.fixture(scope="module")
def bad(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bad") / "bad.jsonl"
    simulated_report(path)
    return path


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")


def compared(old: Path, new: Path, force: bool = False) -> ReportDiff:
    return report_diff(load_report(old), load_report(new), force)


def shown(diff: ReportDiff) -> str:
    out = io.StringIO()
    show_diff(diff, Console(file=out, width=160))
    return out.getvalue()


def version(number: str) -> Callable[[Lines], None]:
    def change(lines: Lines) -> None:
        lines[0]["loader"]["version"] = number

    return change


def finding(lines: Lines, requirement: str, number: int = 0) -> dict[str, Any]:
    """Return the n-th finding of a requirement that was judged."""
    found: list[dict[str, Any]] = [
        finding
        for line in lines[1:-1]
        for finding in line["findings"]
        if finding["requirement"] == requirement and finding["outcome"] != "not offered"
    ]
    return found[number]


def set_outcome(requirement: str, outcome: str, **more: str) -> Callable[[Lines], None]:
    def change(lines: Lines) -> None:
        one = finding(lines, requirement)
        one.clear()
        one.update({"requirement": requirement, "outcome": outcome, **more})

    return change


def test_a_report_does_not_differ_from_itself(
    bad: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diff", str(bad), str(bad)]) == 0
    out = capsys.readouterr().out
    assert "simulated 1.0: nothing broken, nothing fixed" in out
    assert len(out.strip().splitlines()) == 3


def test_the_status_says_whether_anything_broke(
    good: Path, bad: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    newer = rewritten(bad, tmp_path / "newer.jsonl", version("2.0"))
    assert main(["diff", str(good), str(newer), "--markdown", "diff.md"]) == 1
    title = "simulated 1.0 → simulated 2.0: 4 broken, nothing fixed"
    assert title in capsys.readouterr().out
    assert Path("diff.md").read_text().startswith(f"## ❌ {title}")
    assert main(["diff", str(newer), str(good)]) == 0


FAILS = {"kind": "missing", "words": "a batch is missing"}


@pytest.mark.parametrize(
    ("before", "after", "sort", "status"),
    [
        (("pass", {}), ("fails", FAILS), "broken", 1),
        (("pass", {}), ("unstable", FAILS), "broken", 1),
        (("pass", {}), ("refused", {"words": "no"}), "broken", 1),
        (("refused", {"words": "no"}), ("fails silently", FAILS), "broken", 1),
        (("fails", FAILS), ("pass", {}), "fixed", 0),
        (("fails", FAILS), ("refused", {"words": "no"}), "fixed", 0),
        (("refused", {"words": "no"}), ("pass", {}), "fixed", 0),
        (("fails", FAILS), ("fails silently", FAILS), "changed", 0),
        (("fails", FAILS), ("fails", {**FAILS, "kind": "repeated"}), "changed", 0),
        (("fails", FAILS), ("fails", {**FAILS, "words": "two are"}), "", 0),
        (("pass", {}), ("not offered", {"words": "no"}), "unjudged", 0),
        (("fails", FAILS), ("error", {"words": "no"}), "unjudged", 0),
        (("not offered", {"words": "no"}), ("fails", FAILS), "judged", 0),
        (("error", {"words": "no"}), ("pass", {}), "judged", 0),
        (("error", {"words": "no"}), ("not offered", {"words": "no"}), "", 0),
        (("refused", {"words": "no"}), ("refused", {"words": "never"}), "", 0),
    ],
)
def test_each_change_is_of_its_sort(
    before: tuple[str, dict[str, str]],
    after: tuple[str, dict[str, str]],
    sort: str,
    status: int,
    good: Path,
    tmp_path: Path,
) -> None:
    old, new = (
        rewritten(good, tmp_path / f"{n}.jsonl", set_outcome("RESUME-1", outcome, **more))
        for n, (outcome, more) in enumerate((before, after))
    )
    diff = compared(old, new)
    assert [change.sort for change in diff.changes] == ([sort] if sort else [])
    assert diff.status == status
    assert set(SORTS) == {"broken", "fixed", "changed", "unjudged", "judged"}


def test_changed_coverage_is_told_where_no_case_changed(good: Path, tmp_path: Path) -> None:
    def more_cases(lines: Lines) -> None:
        rows = [r for r in lines[-1]["requirements"] if r["requirement"] == "RESUME-1"]
        next(r for r in rows if r["outcome"] == "pass")["counts"]["pass"] += 1
        one = {**lines[1], "id": "0" * 12, "index": 99}
        one["findings"] = [{"requirement": "RESUME-1", "outcome": "fails", "kind": "hang"}]
        lines.insert(2, one)
        del lines[4]

    diff = compared(good, rewritten(good, tmp_path / "more.jsonl", more_cases))
    assert [(row.requirement, row.old, row.new) for row in diff.rows] == [
        ("RESUME-1", "pass 4", "pass 5")
    ]
    assert [(case.id, [f.requirement for f in case.findings]) for case in diff.added] == [
        ("0" * 12, ["RESUME-1"])
    ]
    assert len(diff.removed) == 1
    assert diff.status == 0
    text = shown(diff)
    assert "1 new case, 1 of them failing: RESUME-1" in text
    assert "1 case removed" in text
    assert "other cases" in text


def test_what_else_changed_is_named(good: Path, tmp_path: Path) -> None:
    def elsewhere(lines: Lines) -> None:
        lines[0] |= {"suite": "9.9", "spec": "8.8", "profile": "full", "only": ["RESUME-1"]}
        lines[0]["loader"] |= {"python": "3.99", "packages": {"torch": "7.7"}}

    diff = compared(good, rewritten(good, tmp_path / "other.jsonl", elsewhere))
    names = {note.partition(":")[0] for note in diff.notes}
    assert names == {"profile", "suite", "specification", "asked for", "Python", "torch"}
    assert "profile: quick, now full" in diff.notes
    assert "asked for: all, now RESUME-1" in diff.notes
    assert all(note in shown(diff) for note in diff.notes)


def test_only_what_both_were_asked_is_compared(good: Path, bad: Path, tmp_path: Path) -> None:
    def only_epochs(lines: Lines) -> None:
        lines[0]["only"] = ["EPOCH-1"]

    diff = compared(good, rewritten(bad, tmp_path / "some.jsonl", only_epochs))
    assert {change.requirement for change in diff.changes} == {"EPOCH-1"}
    assert {row.requirement for row in diff.rows} == {"EPOCH-1"}


def renamed(lines: Lines) -> None:
    lines[0]["loader"]["name"] = "another"


def of_other_cases(lines: Lines) -> None:
    for number, line in enumerate(lines[1:-1]):
        line["id"] = f"{number:012x}"


def interrupted(lines: Lines) -> None:
    lines.pop()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (renamed, "of different loaders: simulated and another --force"),
        (of_other_cases, "no case in common: suite"),
        (interrupted, "interrupted after 6 of 6 cases"),
    ],
)
def test_what_says_nothing_about_the_other_is_not_compared(
    change: Callable[[Lines], None],
    words: str,
    good: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    other = rewritten(good, tmp_path / "other.jsonl", change)
    assert main(["diff", str(good), str(other)]) == 2
    printed = capsys.readouterr()
    assert words in " ".join(printed.err.split())
    assert printed.out == ""


def test_other_loaders_are_compared_by_force(good: Path, bad: Path, tmp_path: Path) -> None:
    other = rewritten(bad, tmp_path / "other.jsonl", renamed)
    with pytest.raises(NotComparableError):
        compared(good, other)
    diff = compared(good, other, force=True)
    assert diff.status == 1
    assert "simulated 1.0 → another 1.0" in shown(diff)


def test_no_text_of_a_loader_is_more_than_text(good: Path, bad: Path, tmp_path: Path) -> None:
    hostile = rewritten(bad, tmp_path / "hostile.jsonl", make_hostile)
    diff = compared(good, hostile, force=True)
    assert "\x1b" not in shown(diff)
    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    read = Page(reader.render(diff_markdown(diff)))
    assert not {tag for tag, _ in read.elements} & {"img", "script", "a", "em"}
    assert " ".join(printable(PAYLOAD).split()) in read.words


def test_many_changes_are_summed_up(good: Path, bad: Path, tmp_path: Path) -> None:
    def many(lines: Lines) -> None:
        first = lines[3]
        copies = [{**first, "id": f"{n:012x}", "index": 100 + n} for n in range(50)]
        lines[3:4] = copies

    old, new = (rewritten(p, tmp_path / f"{p.stem}.jsonl", many) for p in (good, bad))
    diff = compared(old, new)
    assert len(diff.of("broken")) > 40
    assert f"{len(diff.of('broken'))} cases" in shown(diff)
    assert f"and {len(diff.of('broken')) - 6} more" in shown(diff)
    assert f"and {len(diff.of('broken')) - 6} more" in diff_markdown(diff)
    assert len(diff_markdown(diff)) < 5000


def test_what_is_newly_judged_and_fails_is_counted(good: Path, tmp_path: Path) -> None:
    before = rewritten(good, tmp_path / "1.jsonl", set_outcome("RESUME-1", "blocked", words="no"))
    after = rewritten(good, tmp_path / "2.jsonl", set_outcome("RESUME-1", "fails", **FAILS))
    diff = compared(before, after)
    assert diff.verdict == "nothing broken, nothing fixed, 1 newly judged (1 of them failing)"
