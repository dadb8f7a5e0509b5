"""A check from its table to its status, on a simulated loader."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from simulated import OFFER, Engine

from midepoch_conformance.case.adapter import Execution
from midepoch_conformance.case.case import Case, SessionPlan, Step
from midepoch_conformance.case.trace import Fault
from midepoch_conformance.case.uninterrupted import oracle_case
from midepoch_conformance.case.workload import Workload
from midepoch_conformance.errors import CheckError
from midepoch_conformance.families import tables
from midepoch_conformance.playing.bench import Bench, Oracles
from midepoch_conformance.playing.hangs import Hangs
from midepoch_conformance.playing.plays import Plays
from midepoch_conformance.playing.turns import Turns
from midepoch_conformance.run import failures
from midepoch_conformance.run.check import run_check, wanted_requirements
from midepoch_conformance.run.events import CasesJudged, Event, Investigating, Started
from midepoch_conformance.run.settings import Settings
from midepoch_conformance.run.smoke import smoke
from midepoch_conformance.scripts import write
from midepoch_conformance.verdict.results import CaseResult, Check


def plain(workload: Workload, workers: int = 0) -> Case:
    steps = tuple(Step("drain") for _ in range(workload.epochs))
    return Case("plain", workload, (SessionPlan(Execution(workers=workers), steps, host="b"),))


def cut(workload: Workload, after: int, workers: int = 0) -> Case:
    first = (Step("take", after), Step("save", state="s0"), Step("close"))
    second = (Step("load", state="s0"), *(Step("drain") for _ in range(workload.epochs)))
    sessions = (
        SessionPlan(Execution(workers=workers), first),
        SessionPlan(Execution(workers=workers), second, ambient=2, host="b"),
    )
    return Case("cut", workload, sessions)


TABLE = [
    plain(Workload()),
    plain(Workload(), workers=2),
    cut(Workload(), 1),
    cut(Workload(), 2, workers=2),
    cut(Workload(shuffle=True, seed=3), 3),
    cut(Workload(n=7, batch_size=1), 3),
    cut(Workload(kind="iterable"), 1),
]


@pytest.fixture(autouse=True)
def _table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "load_table", lambda profile: list(TABLE))


def check(engine: Engine, **settings: object) -> Check:
    arguments = {"jobs": 1, "scripts": None, **settings}
    return run_check(Settings("simulated", **arguments), opener=lambda: engine)  # type: ignore[arg-type]


def outcomes(checked: Check, requirement: str) -> list[str]:
    found = [f for result in checked.results for f in result.findings]
    return [f.outcome for f in found if f.requirement == requirement]


def test_an_exact_loader_passes() -> None:
    engine = Engine()
    checked = check(engine)
    assert checked.status == 0
    assert checked.failures == []
    assert outcomes(checked, "RESUME-1") == ["pass"] * 4 + ["not offered"]
    assert engine.closed


def test_results_stand_in_the_tables_order_whatever_the_jobs() -> None:
    def results(jobs: int) -> list[CaseResult]:
        found = check(Engine(), jobs=jobs).results
        return [dataclasses.replace(result, seconds=0.0) for result in found]

    assert results(1) == results(3)
    assert [result.index for result in results(3)] == list(range(len(TABLE)))


def test_a_lie_is_one_failure_with_its_smallest_case() -> None:
    engine = Engine(lie=lambda case, session: session == 1)
    checked = check(engine)
    assert checked.status == 1
    first = checked.failures[0]
    assert (first.finding.requirement, first.workload_kinds[0]) == ("RESUME-1", "map")
    assert first.finding.outcome == "fails silently"
    assert first.cases == 4
    assert first.case == TABLE[5]
    assert first.shrunk == 0
    assert first.words.startswith("7 samples in batches of 1, no workers: deliver 3 batches")


@pytest.mark.usefixtures("few_drawn")
def test_full_shrinks() -> None:
    engine = Engine(lie=lambda case, session: session == 1)
    checked = check(engine, profile="full")
    small = checked.failures[0].case
    assert 0 < checked.failures[0].shrunk <= 60
    assert small.workload.n <= 2
    assert small.sessions[0].steps[0] == Step("take", 1)


def test_a_failing_case_is_played_three_times_and_once_to_be_drawn_and_others_once() -> None:
    engine = Engine(lie=lambda case, session: session == 1 and case == TABLE[2])
    check(engine)
    assert engine.plays[TABLE[2].id] == 3 + 1
    assert engine.plays[TABLE[3].id] == 1


@pytest.mark.parametrize(("lies", "words"), [([1], "1 of 3"), ([1, 3], "2 of 3")])
def test_what_does_not_repeat_is_unstable_and_still_fails(lies: list[int], words: str) -> None:
    engine = Engine()
    engine.lie = lambda case, session: (
        session == 1 and case == TABLE[2] and engine.plays[case.id] in lies
    )
    checked = check(engine)
    assert checked.status == 1
    finding = checked.failures[0].finding
    assert finding.outcome == "unstable"
    assert finding.words.startswith(words)


def test_the_oracle_is_played_once_and_once_more_for_replays() -> None:
    engine = Engine(lie=lambda case, session: session == 1 and case == TABLE[2])
    bench = Bench(engine, Oracles())
    oracle = oracle_case(TABLE[2])
    for case in (TABLE[2], dataclasses.replace(TABLE[2], sessions=TABLE[2].sessions)):
        bench.judge(case)
    assert engine.plays[oracle.id] == 2


def test_a_case_of_no_epochs_has_no_oracle() -> None:
    engine = Engine()
    workload = dataclasses.replace(TABLE[2].workload, epochs=0)
    case = dataclasses.replace(TABLE[2], workload=workload)
    Bench(engine, Oracles()).judge(case)
    assert dict(engine.plays) == {case.id: 1}


def test_only_so_many_oracles_are_kept() -> None:
    engine = Engine()
    oracles, plays = Oracles(most=2), Plays(engine, Turns(), Hangs())
    wholes = [oracle_case(case) for case in (TABLE[2], TABLE[4], TABLE[5])]
    for whole in (*wholes, wholes[2], wholes[1], wholes[0]):
        oracles.get(plays, whole)
    assert [engine.plays[whole.id] for whole in wholes] == [2, 1, 1]


def test_only_plays_what_is_asked_about() -> None:
    engine = Engine()
    checked = check(engine, only=("BASIS-1", "Interval"))
    assert [r.case for r in checked.results] == TABLE[:2]
    assert {f.requirement for r in checked.results for f in r.findings} == {"BASIS-1"}


def test_only_tells_what_is_blocked_by_what_was_not_asked_about() -> None:
    broken = Engine(lie=lambda case, session: session == 1)
    checked = check(broken, only=("EPOCH-1",))
    assert outcomes(checked, "EPOCH-1") == ["blocked"] * 4 + ["not offered"]
    assert {f.requirement for r in checked.results for f in r.findings} == {"EPOCH-1"}
    assert (checked.unjudged, checked.status) == (("EPOCH-1",), 2)


def test_what_is_declined_is_not_offered_with_its_reason() -> None:
    engine = Engine(declines=lambda w, x: "no shuffling here" if w.shuffle else None)
    checked = check(engine)
    reasons = [result.reason for result in checked.results]
    assert reasons[4] == "no shuffling here"
    assert reasons[6] is not None
    assert checked.status == 0


def test_events_tell_the_story() -> None:
    heard: list[Event] = []
    engine = Engine(lie=lambda case, session: session == 1)
    run_check(Settings("simulated", jobs=2), heard.append, lambda: engine)
    assert isinstance(heard[0], Started)
    judged = [event for event in heard if isinstance(event, CasesJudged)]
    offered = [event.done for event in judged if event.result.reason is None]
    assert offered == list(range(1, len(TABLE)))
    assert {event.cases for event in judged} == {len(TABLE) - 1}
    assert isinstance(heard[-1], Investigating)


@pytest.mark.parametrize(
    ("engine", "words"),
    [
        (Engine(fault=lambda c, s: Fault("raised", "ImportError", message="no torch")), "no torch"),
        (
            Engine(fault=lambda c, s: Fault("hang", "limit", message="20 s", at="next")),
            "did not finish",
        ),
        (Engine(offer=dataclasses.replace(OFFER, kinds=())), "no case"),
        (Engine(declines=lambda w, x: "never"), "never"),
    ],
)
def test_the_smoke_gate(engine: Engine, words: str) -> None:
    with pytest.raises(CheckError, match=words):
        check(engine)
    with pytest.raises(CheckError, match=words):
        smoke(Bench(engine))


def test_wrong_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    with pytest.raises(CheckError, match="unknown requirement or class 'RESUME-99'"):
        wanted_requirements(["RESUME-99"])
    with pytest.raises(CheckError, match="unknown profile 'slow'"):
        check(Engine(), profile="slow")
    assert wanted_requirements([]) is None


def test_an_unknown_loader_and_a_python_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(CheckError, match="names no loader"):
        run_check(Settings("nothing"))
    bad = tmp_path / "python"
    bad.write_text("not a program")
    bad.chmod(0o755)
    with pytest.raises(CheckError, match="cannot be started"):
        run_check(Settings("torch", python=str(bad)))


def test_an_error_of_the_suite_is_that_cases_alone() -> None:
    """All other cases are judged, and the status says that one was not."""

    def broken(case: Case, session: int) -> bool:
        if case == TABLE[2]:
            raise TypeError("a slip of the suite's author")
        return False

    checked = check(Engine(broken))
    assert checked.status == 2
    assert outcomes(checked, "RESUME-1") == ["error", "pass", "pass", "pass", "not offered"]
    found = checked.results[2].findings[0]
    assert found.words.startswith("the suite itself failed: TypeError: a slip of the suite's")
    assert "test_check.py, line" in found.words


@pytest.mark.usefixtures("few_drawn")
def test_an_error_while_a_failure_is_shown_costs_no_report(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def slip(*given: object, **named: object) -> str:
        raise RecursionError("too deep")

    monkeypatch.setattr(write, "make_script", slip)
    monkeypatch.setattr(failures, "shrink", slip)
    checked = check(Engine(lambda case, session: session == 1), scripts=tmp_path, profile="full")
    assert checked.status == 1
    first = checked.failures[0]
    assert first.script is None
    assert "the suite itself failed to write a script: RecursionError" in first.script_note
