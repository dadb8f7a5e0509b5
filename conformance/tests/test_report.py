"""The report: what its lines say, that they repeat, and what reading refuses."""

from __future__ import annotations

import dataclasses
import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from rich.console import Console
from simulated import OFFER, Engine
from test_check import TABLE, plain

from midepoch_conformance.case.case import Case
from midepoch_conformance.case.workload import Workload
from midepoch_conformance.cli import main
from midepoch_conformance.families import tables
from midepoch_conformance.report import terminal
from midepoch_conformance.report.document import Case as CaseLine
from midepoch_conformance.report.document import Document
from midepoch_conformance.report.file import (
    ReportError,
    ReportFile,
    load_report,
    read_report,
    schema,
)
from midepoch_conformance.report.lines import (
    case_of,
    document_of,
    result_of,
    stable,
)
from midepoch_conformance.run.check import run_check
from midepoch_conformance.run.events import CasesJudged, Started
from midepoch_conformance.run.settings import Settings
from midepoch_conformance.run.summary import with_blocked
from midepoch_conformance.text import without_process_ids
from midepoch_conformance.verdict.delivered import delivered
from midepoch_conformance.verdict.finding import Finding
from midepoch_conformance.verdict.results import CaseResult, Check, Failure, Known, Replayed

Lie = Callable[[Case, int], bool]
QUICK = tables.load_table("quick")


@pytest.fixture(autouse=True)
def _table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "load_table", lambda profile: list(TABLE))


def check(lie: Lie = lambda case, session: False, jobs: int = 1) -> Check:
    return run_check(Settings("simulated", jobs=jobs), opener=lambda: Engine(lie))


def ignores_loads(case: Case, session: int) -> bool:
    return session == 1


def written(path: Path, lie: Lie, jobs: int = 1) -> list[dict[str, Any]]:
    """Write a report as the command line does, and read it back."""
    report = ReportFile(path)
    check = run_check(Settings("simulated", jobs=jobs), report, lambda: Engine(lie))
    report.finish(document_of(check))
    return read_report(path)


def shown(checked: Check, quiet: bool = False) -> str:
    out = io.StringIO()
    terminal.show_report(document_of(checked), Console(file=out, width=140), quiet)
    return out.getvalue()


def test_two_runs_write_the_same_lines_times_apart(tmp_path: Path) -> None:
    first, second = (written(tmp_path / str(jobs), ignores_loads, jobs) for jobs in (1, 3))
    assert list(map(stable, first)) == list(map(stable, second))


def test_a_report_is_read_back_as_it_was_made(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "report.jsonl"
    report = ReportFile(path)
    check = run_check(Settings("simulated", jobs=1), report, lambda: Engine(ignores_loads))
    made = document_of(check)
    report.finish(made)
    read = load_report(path)
    assert any(finding.outcome == "blocked" for case in read.cases for finding in case.findings)

    def parts(document: Document) -> list[dict[str, Any]]:
        every = (document.header, *document.cases, document.footer)
        return [json.loads(json.dumps(part.to_json())) for part in every]

    assert parts(read) == parts(made)


def test_a_case_is_judged_again_from_its_line_alone(tmp_path: Path) -> None:
    """A line keeps enough to decide again which findings are blocked."""
    path = tmp_path / "report.jsonl"
    lines = written(path, ignores_loads)
    results = [result_of(CaseLine.from_json(line)) for line in lines[1:-1]]
    results_anew = with_blocked(results)
    blocked = [
        [result.index, finding.requirement, finding.words]
        for result in results_anew
        for finding in result.findings
        if finding.outcome == "blocked"
    ]
    assert blocked
    assert blocked == lines[-1]["blocked"]


def test_lines_are_written_as_cases_are_judged_in_the_tables_order(tmp_path: Path) -> None:
    path = tmp_path / "report.jsonl"
    report = ReportFile(path)
    seen: list[list[int]] = []

    def judged(index: int) -> None:
        result = CaseResult(index, TABLE[index], (), None, 0.5)
        report(CasesJudged(result, 1, len(TABLE)))
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        seen.append([line["index"] for line in lines[1:]])

    try:
        report(Started(check().facts, len(TABLE)))
        for index in (1, 2, 0, 4, 3):
            judged(index)
    finally:
        report.close()
    assert seen == [[], [], [0, 1, 2], [0, 1, 2], [0, 1, 2, 3, 4]]


def test_an_older_report_is_replaced_once_the_loader_answers(tmp_path: Path) -> None:
    path = tmp_path / "report.jsonl"
    path.write_text("precious")
    report = ReportFile(path)
    assert path.read_text() == "precious"
    report(Started(check().facts, 0))
    report.close()
    assert json.loads(path.read_text())["type"] == "header"


def test_what_is_drawn_is_capped() -> None:
    many = plain(Workload(n=1000, batch_size=20))
    trace = Engine().play(many)
    kept = delivered(many, trace, trace)
    assert kept.capped
    assert [len(batch) for batch in kept.sessions[0]["steps"][0]["batches"]] == [16] * 50
    more = plain(Workload(n=100, batch_size=1))
    trace = Engine().play(more)
    assert [len(epoch) for epoch in delivered(more, trace, trace).uninterrupted] == [64, 64]
    small = plain(Workload())
    trace = Engine().play(small)
    assert not delivered(small, trace, trace).capped


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ((0, ()), "begins with its header"),
        ((1, "{"), "line 1: not JSON"),
        ((1, "[]"), "line 1: not a line of a report"),
        ((1, {"type": "sermon"}), "line 1: not a line of a report"),
        ((1, {"format": 99}), "line 1: the report's format is 99, and this suite reads 2"),
        ((1, {"loader": {}}), "line 1: loader: 'spec' is a required property"),
        ((2, {"index": "first"}), "line 2: index: 'first' is not of type 'integer'"),
        ((2, {"index": 5}), "line 2: index: case 0 is missing: this is number 5"),
        ((2, {"surprise": 1}), "line 2: the case: .*'surprise' was unexpected"),
        ((3, {"findings": [{"requirement": "RESUME-1", "outcome": "meh"}]}),
         "line 3: findings.0.outcome: 'meh' is not one of"),
        ((-1, {"status": 7}), "status: 7 is not one of"),
        ((-1, {"cases": 1}), "cases: the footer tells of 1, and the report has 7"),
        ((-1, ()), "no footer: the run was interrupted"),
    ],
)  # fmt: skip
def test_what_is_no_report_is_refused(tmp_path: Path, changes: tuple[int, Any], words: str) -> None:
    path = tmp_path / "report.jsonl"
    lines: list[Any] = written(path, ignores_loads)
    number, change = changes
    at = number - 1 if number > 0 else len(lines) + number
    if number == 0:
        lines = []
    elif change == ():
        del lines[at]
    else:
        lines[at] = change if isinstance(change, str) else {**lines[at], **change}
    path.write_text(
        "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
    )
    with pytest.raises(ReportError, match=words):
        read_report(path)


@pytest.mark.parametrize("name", ["missing.jsonl", "."])
def test_what_cannot_be_read_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ReportError, match=r"no such report|cannot be read"):
        read_report(tmp_path / name)


def test_an_interrupted_report_can_be_read_where_that_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "report.jsonl"
    lines = written(path, ignores_loads)
    text = path.read_text()
    path.write_text(text[: text.rindex('{"type": "footer"') - 10])
    assert read_report(path, interrupted=True) == lines[:-2]


def test_texts_may_hold_what_python_takes_for_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "report.jsonl"
    offer = dataclasses.replace(OFFER, reasons={"iterable": "a\u2028b\x85c\x0bd"})
    engine = Engine(offer=offer)
    report = ReportFile(path)
    checked = run_check(Settings("simulated", jobs=1), report, lambda: engine)
    report.finish(document_of(checked))
    assert "\u2028" in path.read_text()
    assert len(read_report(path)) == len(TABLE) + 2


@pytest.mark.usefixtures("few_drawn")
def test_the_report_of_full_is_read_again(tmp_path: Path) -> None:
    """Its header tells what was drawn, and which pairs of values were not."""
    path = tmp_path / "report.jsonl"
    report = ReportFile(path)
    check = run_check(Settings("simulated", profile="full", jobs=1), report, Engine)
    report.finish(document_of(check))
    drawn = read_report(path)[0]["drawn"]
    assert drawn["histories"] > 0
    assert drawn["unreached"]
    jsonschema.Draft202012Validator(schema()).validate(read_report(path)[0])


@pytest.mark.usefixtures("warm_torch")
@pytest.mark.parametrize(("loader", "status"), [("reference", 0), ("torchdata", 1)])
def test_reports_of_real_loaders_are_as_the_schema_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, loader: str, status: int
) -> None:
    """Some cases without workers; what explore writes is read in the command line's tests."""
    monkeypatch.chdir(tmp_path)
    table = [c for c in QUICK if not any(s.execution.workers for s in c.sessions)]
    monkeypatch.setattr(tables, "load_table", lambda profile: table)
    only = ["--only", "STATE-2", "--jobs", "1"]
    command = ["check", loader, *only, "--json", "report.jsonl", "--quiet"]
    assert main(command) == status
    header, *middle, footer = read_report(Path("report.jsonl"))
    validator = jsonschema.Draft202012Validator(schema())
    for line in (header, *middle, footer):
        validator.validate(line)
    assert footer["cases"] == len(middle) > 0
    assert bool(footer["failures"]) == bool(status)
    for failure in footer["failures"]:
        assert failure["script_text"] == Path(failure["script"]).read_text()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda folder: folder, "is a folder"),
        (lambda folder: _file(folder) / "report.jsonl", "is not a folder"),
    ],
)
def test_a_place_that_cannot_be_written_is_refused_before_anything_is_played(
    tmp_path: Path, make: Callable[[Path], Path], words: str
) -> None:
    with pytest.raises(ReportError, match=words):
        ReportFile(make(tmp_path))


def _file(folder: Path) -> Path:
    path = folder / "file"
    path.write_text("")
    return path


def _nodes(node: Any, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    if isinstance(node, dict):
        yield path, node
        for key, value in node.items():
            yield from _nodes(value, f"{path}/{key}")
    elif isinstance(node, list):
        for number, value in enumerate(node):
            yield from _nodes(value, f"{path}/{number}")


def test_the_schema_is_one_and_says_what_each_field_is() -> None:
    jsonschema.Draft202012Validator.check_schema(schema())
    for path, node in _nodes(schema()):
        for name, field in node.get("properties", {}).items() if "required" in node else ():
            told = {"description", "$ref", "const", "title"} & set(field)
            assert told or path.endswith("/items"), f"{path}: {name} has no description"
        if "properties" in node and not path.endswith("/items"):
            assert {"title", "description"} <= set(node), path


def test_the_schema_lets_no_unknown_field_pass(tmp_path: Path) -> None:
    """Each part of a real report with one field more is refused."""
    lines = written(tmp_path / "report.jsonl", ignores_loads)
    validator = jsonschema.Draft202012Validator(schema())
    for line in lines:
        assert validator.is_valid(line)
    parts = [
        (lines[1], lines[1]),
        (lines[1], lines[1]["case"]),
        (lines[1], lines[1]["findings"][0]),
        (lines[0], lines[0]["loader"]),
        *((lines[-1], lines[-1][name][0]) for name in ("classes", "requirements", "failures")),
        (lines[-1], lines[-1]["failures"][0]["delivered"]["sessions"][0]["steps"][0]),
    ]
    for line, part in parts:
        part["surprise"] = 1
        assert not validator.is_valid(line), part
        del part["surprise"]


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
    assert without_process_ids(text) == expected


def test_a_passing_finding_is_its_outcome_alone() -> None:
    finding = Finding("FAULT-1", "pass", words="worker (pid 12) died, as it should")
    assert case_of(CaseResult(0, TABLE[0], (finding,)), own=False).to_json()["findings"] == [
        {"requirement": "FAULT-1", "outcome": "pass"}
    ]


def test_a_loader_moves_no_cursor() -> None:
    """What a loader or a file chose to say is written out where it would steer the terminal."""
    evil = "\x1b[2Jgone"
    finding = Finding("RESUME-1", "fails", "error", evil, got=[evil], workload="map")
    entry = Known("RESUME-1", evil, evil, TABLE[2], evil)
    checked = check()
    told = dataclasses.replace(
        checked,
        facts=dataclasses.replace(
            checked.facts, info=dataclasses.replace(checked.facts.info, name=evil, version=evil)
        ),
        failures=[Failure(finding, ("map",), TABLE[2], evil, script=evil, script_note=evil)],
        known=[Replayed(entry, finding), Replayed(entry, Finding("RESUME-1", "pass"))],
        results=[CaseResult(0, TABLE[2], (Finding("RESUME-1", "refused", words=evil),), evil)],
    )
    text = shown(told)
    assert text.count("gone") >= 8
    assert "\x1b" not in text


@pytest.mark.parametrize("quiet", [False, True])
def test_a_stand_in_is_named(quiet: bool) -> None:
    checked = check()
    info = dataclasses.replace(checked.facts.info, packages={"torchvision": "stand-in"})
    told = dataclasses.replace(checked, facts=dataclasses.replace(checked.facts, info=info))
    said = "simulated 1.0 (with a stand-in for torchvision)"
    assert said in " ".join(shown(told, quiet=quiet).split())
    assert document_of(told).header.to_json()["loader"]["packages"] == {"torchvision": "stand-in"}
    assert "stand-in" not in shown(checked, quiet=quiet)


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
    # The one that the loader does not offer is told of once, and counts no more.
    offered = len(TABLE) - 1
    assert said[0] == f"checking simulated 1.0: {offered} cases; 1 not offered"
    assert said.count(f"{offered} of {offered} cases, 4 failing") == 1
    assert said[-1].startswith("failure 1 of 1: RESUME-1")


def test_rich_progress_leaves_no_bar() -> None:
    out = io.StringIO()
    progress = terminal.RichProgress(Console(file=out, force_terminal=True, width=80))
    try:
        run_check(Settings("simulated", jobs=1), progress, lambda: Engine(ignores_loads))
    finally:
        progress.close()
    assert "checking simulated 1.0" in out.getvalue()
