"""A run that was interrupted goes on from its report, and comes to what it would have come to."""

from __future__ import annotations

import dataclasses
import json
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from simulated import OFFER, Engine
from test_check import TABLE

from midepoch_conformance import cli
from midepoch_conformance.case.case import Case
from midepoch_conformance.cli import main
from midepoch_conformance.errors import CheckError
from midepoch_conformance.families import tables
from midepoch_conformance.report.file import (
    ReportError,
    ReportFile,
    continued,
    load_report,
    read_report,
)
from midepoch_conformance.report.lines import document_of, stable
from midepoch_conformance.report.wording import command_words
from midepoch_conformance.run import check
from midepoch_conformance.run.check import run_check
from midepoch_conformance.run.events import CasesJudged, Event, Investigating, Started
from midepoch_conformance.run.judging import Stopped
from midepoch_conformance.run.settings import Settings


def forgets(case: Case, session: int) -> bool:
    return session == 1


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "load_table", lambda profile: list(TABLE))


def judge(path: Path, again: bool = False, engine: Engine | None = None, **how: Any) -> Engine:
    """Judge the simulated loader as the command line does, and return what played."""
    engine = engine or Engine(forgets)
    earlier = continued(path) if again else None
    report = ReportFile(path, earlier)
    settings = Settings("simulated", jobs=how.pop("jobs", 1), **how)
    try:
        checked = run_check(
            settings, report, lambda: engine, earlier=earlier.results if earlier else ()
        )
        report.finish(document_of(checked))
    finally:
        report.close()
    return engine


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [stable(line) for line in read_report(path)]


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("jobs", [1, 3])
@pytest.mark.parametrize("kept", range(len(TABLE) + 1))
@pytest.mark.parametrize("cut", [0, 1, 30])
def test_whatever_is_kept_the_end_is_the_same(
    tmp_path: Path, kept: int, cut: int, jobs: int
) -> None:
    path = tmp_path / "report.jsonl"
    judge(path)
    whole = lines_of(path)
    text = path.read_text().splitlines(keepends=True)
    path.write_text("".join(text[: kept + 1]) + text[kept + 1][:cut])
    played = judge(path, again=True, jobs=jobs).plays
    assert lines_of(path) == whole
    smallest = whole[-1]["failures"][0]["id"]
    assert {case.id for case in TABLE[:kept]} & set(played) <= {smallest}


@pytest.mark.usefixtures("short")
def test_the_verdict_is_in_the_report_before_scripts_are_written(tmp_path: Path) -> None:
    path, seen = tmp_path / "report.jsonl", []
    report = ReportFile(path)

    def listen(event: Event) -> None:
        report(event)
        if isinstance(event, Investigating) and "draw" in event.doing:
            seen.append((report.whole, read_report(path)[-1]))

    checked = run_check(Settings("simulated", jobs=1), listen, lambda: Engine(forgets))
    report.finish(document_of(checked))
    assert len(seen) == len(checked.failures) > 0
    *_, last = read_report(path)
    for whole, footer in seen:
        assert whole
        assert (footer["type"], footer["status"]) == ("footer", 1)
        assert [f["id"] for f in footer["failures"]] == [f["id"] for f in last["failures"]]
    assert last["failures"][0]["delivered"]


@pytest.mark.usefixtures("short")
def test_a_run_goes_on_with_its_own_options(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that are given again count; the command that is copied from a report has all."""
    path = tmp_path / "report.jsonl"
    link = tmp_path / "python"
    link.symlink_to(sys.executable)
    monkeypatch.chdir(tmp_path)
    given: list[Settings] = []

    def run(settings: Settings, listen: Any, earlier: Any = ()) -> Any:
        given.append(settings)
        return run_check(settings, listen, lambda: Engine(forgets), earlier)

    monkeypatch.setattr(cli, "run_check", run)
    options = ["--python", "python", "--jobs", "3", "--timeout", "45", "--scripts", "mine"]
    asked = ["--profile", "full", "--only", "RESUME-1"]
    monkeypatch.setattr(check, "draw_cases", lambda *given: [])
    monkeypatch.setattr(check, "draw_histories", lambda *given: [])
    assert main(["check", "simulated", "--json", str(path), *asked, *options]) == 1
    command = shlex.split(command_words(load_report(path).header))
    assert command[:2] == ["midepoch", "check"]
    # The interpreter's path is whole: scripts run in other folders. A link stays one. The command
    # is the one that was typed.
    assert given[0].python == str(link)
    assert command[command.index("--python") + 1] == "python"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:3]))
    assert main(["check", "simulated", "--json", str(path), "--continue", "--jobs", "1"]) == 1
    first, second = given
    assert second.jobs == 1
    assert dataclasses.replace(second, jobs=3, options=first.options) == first
    assert main(["check", "simulated", "--json", str(path), *command[3:]]) == 1
    assert given[2] == first


@pytest.mark.usefixtures("short")
def test_only_some_requirements_go_on_as_well(tmp_path: Path) -> None:
    """Findings that other requirements block are read back, although nobody asked for those."""
    path = tmp_path / "report.jsonl"
    judge(path, only=("EPOCH-1",))
    whole = lines_of(path)
    assert whole[-1]["blocked"]
    for kept in range(len(whole) - 1):
        text = path.read_text().splitlines(keepends=True)
        path.write_text("".join(text[: kept + 1]))
        judge(path, again=True, only=("EPOCH-1",))
        assert lines_of(path) == whole


@pytest.mark.usefixtures("short")
def test_a_run_that_goes_on_says_where_it_is(tmp_path: Path) -> None:
    path = tmp_path / "report.jsonl"
    judge(path)
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:4]))
    heard: list[Event] = []
    earlier = continued(path)
    run_check(
        Settings("simulated", jobs=1), heard.append, lambda: Engine(), earlier=earlier.results
    )
    started = next(event for event in heard if isinstance(event, Started))
    assert (started.cases, started.done) == (len(TABLE) - 1, 3)
    judged = [event for event in heard if isinstance(event, CasesJudged)]
    assert [(event.done, event.result.index) for event in judged] == [
        (4, 3),
        (5, 4),
        (6, 5),
        (6, 6),  # it is not offered
    ]


CHANGES: dict[str, tuple[Callable[[dict[str, Any]], None], str]] = {
    "loader": (
        lambda header: header["loader"].update(version="2.0"),
        r"loader.version was '2.0', is '1.0'",
    ),
    "file": (
        lambda header: header["loader"].update(digest="0" * 64),
        "the loader's file has been edited",
    ),
    "packages": (
        lambda header: header["loader"].update(packages={"torch": "2.0"}),
        r"loader.packages.torch was '2.0', is None",
    ),
    "suite": (lambda header: header.update(suite="0.0.1"), "suite was '0.0.1'"),
    "profile": (lambda header: header.update(profile="full"), "profile was 'full', is 'quick'"),
    "only": (lambda header: header.update(only=["RESUME-1"]), r"only was \['RESUME-1'\], is None"),
    "table": (lambda header: header.update(table="0" * 64), "the table has other cases"),
}


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("what", CHANGES)
def test_the_report_of_another_run_is_left_alone(tmp_path: Path, what: str) -> None:
    change, words = CHANGES[what]
    path = tmp_path / "report.jsonl"
    judge(path)
    header, *rest = path.read_text().splitlines()
    said = json.loads(header)
    change(said)
    path.write_text("\n".join([json.dumps(said), *rest[:3], rest[3][:20]]))
    before = path.read_bytes()
    with pytest.raises(ReportError, match=f"the report of another run: {words}") as caught:
        judge(path, again=True)
    assert "leave --continue out" in caught.value.hint
    assert path.read_bytes() == before


@pytest.mark.usefixtures("short")
def test_cases_that_are_not_the_tables_are_not_believed(tmp_path: Path) -> None:
    path = tmp_path / "report.jsonl"
    judge(path)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    lines[1] |= {name: lines[2][name] for name in ("id", "case")}
    path.write_text("".join(json.dumps(line) + "\n" for line in lines[:3]))
    with pytest.raises(CheckError, match="are not the beginning of this table"):
        judge(path, again=True)
    lines[1]["id"] = "0123456789ab"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines[:3]))
    with pytest.raises(ReportError, match=f"line 2: id: the case is {TABLE[1].id} and not 0123"):
        judge(path, again=True)
    lines[1]["case"]["workload"] = {"no_such_field": 1}
    path.write_text("".join(json.dumps(line) + "\n" for line in lines[:3]))
    with pytest.raises(ReportError, match=r"line 2: case: .*no_such_field"):
        judge(path, again=True)


@pytest.mark.usefixtures("short")
def test_a_complete_report_has_nothing_to_go_on_with(tmp_path: Path) -> None:
    path = tmp_path / "report.jsonl"
    judge(path)
    before = path.read_bytes()
    with pytest.raises(ReportError, match=r"is complete \(status 1\)"):
        continued(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "there is no such report"),
        ("", "a report begins with its header"),
        ('{"type": "hea', "a report begins with its header"),
        ('{"type": "case"}\n', "line 1: the case: 'index' is a required property"),
    ],
)
def test_there_must_be_something_to_go_on_with(
    tmp_path: Path, text: str | None, words: str
) -> None:
    path = tmp_path / "report.jsonl"
    if text is not None:
        path.write_text(text)
    with pytest.raises(ReportError, match=words):
        continued(path)


@pytest.mark.usefixtures("short")
def test_what_explore_wrote_has_no_table(tmp_path: Path) -> None:
    path = tmp_path / "report.jsonl"
    judge(path)
    header = json.loads(path.read_text().splitlines()[0])
    path.write_text(json.dumps({**header, "table": None, "cases": None}) + "\n")
    with pytest.raises(ReportError, match="no table to continue"):
        continued(path)


@pytest.mark.usefixtures("short")
def test_ctrl_c_keeps_what_was_judged(tmp_path: Path) -> None:
    """Ctrl-C in the middle of a play: the cases before it are kept, and judged no more."""
    path = tmp_path / "report.jsonl"
    judge(path)
    whole = lines_of(path)
    engine = Engine(forgets)

    def interrupt(case: Case, session: int) -> bool:
        if case == TABLE[4]:
            raise KeyboardInterrupt  # a signal may come in a callback, and be swallowed there
        return forgets(case, session)

    engine.lie = interrupt
    with pytest.raises(Stopped) as caught:
        judge(path, engine=engine)
    kept = read_report(path, interrupted=True)[1:]
    assert [result.case.id for result in caught.value.results] == [line["id"] for line in kept]
    assert len(kept) >= 4
    judge(path, again=True)
    assert lines_of(path) == whole


def test_explored_cases_are_kept_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A round that Ctrl-C ends in its middle counts as far as it came."""
    from midepoch_conformance.run import explore

    path = tmp_path / "report.jsonl"
    offer = dataclasses.replace(OFFER, workers=(0,), kinds=("map",))
    seen = 0

    def interrupt(case: Case, session: int) -> bool:
        nonlocal seen
        seen += 1
        if seen == 40:
            raise KeyboardInterrupt
        return False

    engine = Engine(interrupt, offer)
    report = ReportFile(path)
    settings = Settings("simulated", profile="explore", jobs=1, only=("RESUME-1",))
    checked = explore.explore(settings, seed=1, listen=report, opener=lambda: engine)
    report.finish(document_of(checked))
    header, *middle, footer = read_report(path)
    assert (header["seed"], header["table"]) == (1, None)
    assert len(middle) == footer["cases"] == len(checked.results) > 10
