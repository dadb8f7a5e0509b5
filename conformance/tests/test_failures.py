"""Distinct causes are apart, and one cause is one failure, with its smallest case."""

from __future__ import annotations

import contextlib
import dataclasses
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from simulated import Engine
from test_check import TABLE, cut

from midepoch_conformance.case.case import Case
from midepoch_conformance.case.trace import Fault
from midepoch_conformance.case.workload import Workload
from midepoch_conformance.families import tables
from midepoch_conformance.playing.bench import Bench
from midepoch_conformance.run.check import run_check
from midepoch_conformance.run.events import Event, Investigating
from midepoch_conformance.run.failures import (
    Group,
    by_harm,
    damage,
    distinct,
    failing_groups,
    harm,
    investigate,
    smallest,
)
from midepoch_conformance.run.settings import Settings
from midepoch_conformance.scripts import write as scripts_module
from midepoch_conformance.scripts.write import Scripts
from midepoch_conformance.verdict.finding import Finding
from midepoch_conformance.verdict.results import CaseResult, Failure

SHUFFLED = cut(Workload(shuffle=True, seed=3), 3)
PLAIN = cut(Workload(), 1)
LONG = cut(Workload(n=30), 4)
STREAM = cut(Workload(kind="iterable"), 1)


@pytest.fixture
def _features(monkeypatch: pytest.MonkeyPatch) -> None:
    feature = property(lambda w: "shuffled" if w.shuffle else "")
    monkeypatch.setattr(Workload, "feature", feature, raising=False)


def failing(case: Case, outcome: str = "fails silently", kind: str = "missing") -> CaseResult:
    return CaseResult(0, case, (Finding("RESUME-1", outcome, kind),))


def groups(*results: CaseResult, by_kind: bool = False) -> list[list[str]]:
    found = failing_groups(results, by_kind=by_kind)
    return [[case.id for case, _ in group.members] for group in found]


def test_another_way_of_failing_is_another_failure() -> None:
    found = groups(failing(PLAIN), failing(LONG, kind="repeated"), failing(LONG, "fails", "hang"))
    assert found == [[PLAIN.id], [LONG.id], [LONG.id]]


def test_the_smallest_case_comes_first() -> None:
    assert groups(failing(LONG), failing(PLAIN)) == [[PLAIN.id, LONG.id]]


def test_kinds_of_workload_are_apart_where_there_is_time_for_it() -> None:
    results = (failing(PLAIN), failing(STREAM))
    assert [set(ids) for ids in groups(*results)] == [{PLAIN.id, STREAM.id}]
    assert groups(*results, by_kind=True) == [[PLAIN.id], [STREAM.id]]


@pytest.mark.usefixtures("_features")
def test_what_is_special_about_a_workload_tells_causes_apart_where_there_is_time_for_it() -> None:
    results = failing(PLAIN), failing(SHUFFLED)
    assert [set(ids) for ids in groups(*results)] == [{PLAIN.id, SHUFFLED.id}]
    assert groups(*results, by_kind=True) == [[PLAIN.id], [SHUFFLED.id]]


@pytest.mark.usefixtures("_features")
def test_a_failure_tells_of_what_is_special_unless_plain_workloads_fail_too() -> None:
    (alone,) = failing_groups([failing(SHUFFLED)], by_kind=False)
    assert alone.features == ("shuffled",)
    (both,) = failing_groups([failing(SHUFFLED), failing(PLAIN)], by_kind=False)
    assert both.features == ()
    special = dataclasses.replace(failure(SHUFFLED)[1], feature="shuffled")
    other = dataclasses.replace(failure(LONG)[1], feature="long", also=("late",))
    found = [(failure(SHUFFLED)[0], special), (failure(LONG)[0], other)]
    ((_, merged),) = distinct(found, by_kind=False)
    assert {merged.feature, *merged.also} == {"shuffled", "long", "late"}
    ((_, merged),) = distinct([*found, failure(PLAIN)], by_kind=False)
    assert merged.also == ()


def test_what_fails_now_and_then_goes_with_what_fails_each_time() -> None:
    unstable = failing(PLAIN, "unstable", "repeated")
    assert groups(unstable, failing(LONG)) == [[LONG.id, PLAIN.id]]
    assert groups(unstable) == [[PLAIN.id]]
    assert groups(unstable, failing(STREAM), by_kind=True) == [[STREAM.id], [PLAIN.id]]


def test_what_passes_is_no_failure() -> None:
    passing = CaseResult(0, PLAIN, (Finding("RESUME-1", "pass"), Finding("EPOCH-1", "blocked")))
    assert groups(passing) == []


def failure(case: Case, kind: str = "missing", count: int = 1) -> tuple[Group, Failure]:
    finding = Finding("RESUME-1", "fails silently", kind)
    kinds = (case.workload.kind,)
    return Group("RESUME-1", ((case, finding),)), Failure(finding, kinds, case, "", count)


@pytest.mark.usefixtures("_features")
def test_what_shrinks_to_the_same_is_one_failure() -> None:
    found = [failure(LONG, count=2), failure(PLAIN, count=3), failure(SHUFFLED)]
    (_, plain), (_, shuffled) = distinct(found, by_kind=True)
    assert (plain.case, plain.cases) == (PLAIN, 5)
    assert shuffled.case == SHUFFLED
    assert len(distinct([failure(PLAIN), failure(STREAM)], by_kind=True)) == 2
    ((_, both),) = distinct([failure(PLAIN), failure(STREAM)], by_kind=False)
    assert set(both.workload_kinds) == {"map", "iterable"}


@pytest.mark.usefixtures("_features")
@pytest.mark.usefixtures("few_drawn")
@pytest.mark.usefixtures("few_drawn")
def test_full_finds_that_an_unusual_workload_was_not_the_cause(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tables, "load_table", lambda profile: list(TABLE))
    heard: list[Event] = []
    settings = Settings("simulated", profile="full", jobs=1, only=("RESUME-1",))
    checked = run_check(settings, heard.append, lambda: Engine(lambda case, session: session == 1))
    (found,) = checked.failures
    assert found.feature == ""
    assert not found.case.workload.shuffle
    doing = [event.doing for event in heard if isinstance(event, Investigating)]
    assert doing.count("playing it again, to draw it") == 1
    assert doing.count("searching for its smallest case") == len(doing) - 1 > 1


HARM = {
    "reordered": "fails silently",
    "missing": "unstable",
    "hang": "fails",
    "crash": "fails",
    "late error": "fails",
    "bare error": "fails",
    "refusal": "fails",
    "cost": "fails",
    "leftover": "fails",
}
"""Kinds of failures with an outcome of each, the most harmful first."""


def test_the_most_harmful_failure_comes_first() -> None:
    found = []
    for kind, outcome in reversed(HARM.items()):
        group, one = failure(PLAIN, kind)
        finding = dataclasses.replace(one.finding, outcome=outcome)
        found.append((group, dataclasses.replace(one, finding=finding)))
    kinds = [one.finding.kind for _, one in by_harm(found)]
    ranks = [harm(one.finding) for _, one in by_harm(found)]
    assert ranks == sorted(ranks) == [0, 0, 1, 1, 2, 3, 3, 4, 4]
    assert (set(kinds[:2]), kinds[4]) == ({"reordered", "missing"}, "late error")


def test_the_worst_case_is_named_beside_the_smallest() -> None:
    little = Finding("RESUME-1", "fails silently", "missing", "one", [[[0], [1]]], [[[0]]])
    much = Finding("RESUME-1", "fails silently", "missing", "many", [[[0], [1]], [[2], [3]]], [])
    assert (damage(little), damage(much), damage(Finding("COST-1", "fails", "cost"))) == (1, 4, 0)
    assert damage(dataclasses.replace(little, got=[[[1], [0]]])) == 1  # only the order differs
    bench = Bench(Engine())
    both = smallest(bench, Group("RESUME-1", ((PLAIN, little), (LONG, much))), shrinking=False)
    assert both.case == PLAIN
    assert both.worst.startswith("30 samples")
    assert both.worst.endswith(": many")
    one = smallest(bench, Group("RESUME-1", ((PLAIN, much), (LONG, little))), shrinking=False)
    assert one.worst == ""


def test_a_hang_is_not_played_again_for_its_picture() -> None:
    engine = Engine(fault=lambda case, session: Fault("hang", "limit", at="next"))
    case, finding = PLAIN, Finding("RESUME-1", "fails", "hang")
    found = investigate(Bench(engine), Group("RESUME-1", ((case, finding),)), None, shrinking=False)
    assert found.delivered is None
    assert engine.plays[PLAIN.id] == 1  # which makes sure of the hang
    other = dataclasses.replace(finding, kind="crash")
    found = investigate(Bench(engine), Group("RESUME-1", ((case, other),)), None, shrinking=False)
    assert found.delivered is not None


@pytest.mark.usefixtures("_features")
def test_failures_that_are_apart_have_scripts_of_their_own(tmp_path: Path) -> None:
    """No script takes another's place in the folder."""
    scripts = Scripts(tmp_path)
    findings = [
        Finding("RESUME-1", "fails silently", "missing"),
        Finding("RESUME-1", "fails silently", "repeated"),
        Finding("RESUME-1", "unstable", "repeated"),
        Finding("RESUME-2", "fails"),
    ]
    failures = [Failure(f, ("map",), PLAIN, "") for f in findings]
    failures.append(Failure(findings[0], ("map",), SHUFFLED, "", feature="shuffled"))
    failures.append(Failure(findings[0], ("iterable",), STREAM, ""))
    names = {scripts.path("loader", failure).name for failure in failures}
    assert names == {
        "loader_resume_1_map_missing.py",
        "loader_resume_1_map_repeated.py",
        "loader_resume_1_map_repeated_unstable.py",
        "loader_resume_2_map.py",
        "loader_resume_1_map_shuffled_missing.py",
        "loader_resume_1_iterable_missing.py",
    }


def test_scripts_are_made_one_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two threads in CPython 3.11's ``ast`` at a time end in a SystemError."""
    together = threading.Barrier(2)
    met = []

    def make_script(*given: object, **named: object) -> str:
        with contextlib.suppress(threading.BrokenBarrierError):
            together.wait(timeout=0.2)
            met.append(given)
        return ""

    monkeypatch.setattr(scripts_module, "make_script", make_script)
    folder = Scripts(tmp_path)
    failure = Failure(Finding("RESUME-1", "fails silently"), ("map",), PLAIN, "")
    info = Engine().info
    with folder, ThreadPoolExecutor(2) as pool:
        tuple(pool.map(lambda _: folder.add(failure, info, None), range(2)))
    assert not met
