"""An exploration with `--seconds` ends within its time, by a clock that only plays move."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace
from typing import Any

import pytest
from simulated import OFFER, Engine
from test_check import cut

from midepoch_conformance.case.case import Case
from midepoch_conformance.case.trace import Trace
from midepoch_conformance.case.workload import Workload
from midepoch_conformance.playing.bench import Bench
from midepoch_conformance.run import explore, failures, judging
from midepoch_conformance.run.events import CasesJudged, Event, Found, Started
from midepoch_conformance.run.explore import Goal
from midepoch_conformance.run.failures import Group, shown
from midepoch_conformance.run.settings import Settings
from midepoch_conformance.scripts.write import Scripts
from midepoch_conformance.search.shrink import shrink
from midepoch_conformance.verdict.finding import Finding
from midepoch_conformance.verdict.results import CaseResult, Check, Failure

A_PLAY = 0.05
ONE_CASE = 6 * A_PLAY
"""Three plays of a case, and its uninterrupted runs."""

FAILS = CaseResult(0, cut(Workload(), 1), (Finding("RESUME-1", "fails", "error"),))
PASSES = CaseResult(0, cut(Workload(), 1), (Finding("RESUME-1", "pass"),))


class Clocked(Engine):
    """An engine whose loader forgets loads, and whose plays move a clock."""

    now = 0.0

    def play(self, *args: Any, **named: Any) -> Trace:
        self.now += A_PLAY
        return super().play(*args, **named)


def explored(
    monkeypatch: pytest.MonkeyPatch, goal_seconds: float, lies: bool, only: tuple[str, ...] = ()
) -> tuple[Check, list[tuple[float, Event]]]:
    engine = Clocked(lambda case, session: lies, dataclasses.replace(OFFER, workers=(0,)))
    clock = SimpleNamespace(monotonic=lambda: engine.now)
    for module in (explore, judging, failures):
        monkeypatch.setattr(module, "time", clock)
    heard: list[tuple[float, Event]] = []
    settings = Settings("simulated", profile="explore", jobs=1, only=only, shrink=True)
    found = explore.explore(
        settings,
        Goal(goal_seconds),
        seed=1,
        listen=lambda event: heard.append((engine.now, event)),
        opener=lambda: engine,
    )
    return found, heard


def test_what_fails_is_made_smaller_in_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    checked, heard = explored(monkeypatch, 20.0, lies=True)
    (found,) = [now for now, event in heard if isinstance(event, Found)]
    assert found <= 18.0 + ONE_CASE
    last = max(now for now, event in heard if isinstance(event, CasesJudged))
    assert last <= 16.0 + ONE_CASE
    assert any(failure.shrunk for failure in checked.failures)


def test_without_a_failure_cases_have_all_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    _, heard = explored(monkeypatch, 10.0, lies=False, only=("RESUME-1",))
    last = max(now for now, event in heard if isinstance(event, CasesJudged))
    assert 9.0 < last <= 10.0 + ONE_CASE


def test_cases_and_failures_are_counted_over_the_whole_exploration(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _, heard = explored(monkeypatch, 10.0, lies=True)
    judged = [event for _, event in heard if isinstance(event, CasesJudged)]
    rounds = [event for _, event in heard if isinstance(event, Started)]
    assert [event.done for event in judged] == list(range(1, len(judged) + 1))
    assert all(event.done <= event.cases for event in judged)
    assert len(rounds) > 1
    assert [event.done for event in rounds] == [0, *(event.cases for event in rounds[:-1])]


def test_time_is_kept_for_failures_alone() -> None:
    goal = Goal(100.0)
    assert goal.cases_until([PASSES]) == goal.until
    assert goal.cases_until([PASSES, FAILS]) == pytest.approx(goal.began + 80)
    assert goal.smaller_until == pytest.approx(goal.began + 90)
    assert Goal(7200.0).smaller_until == pytest.approx(goal.began + 7140, abs=1)
    assert Goal(cases=3).cases_until([FAILS]) == float("inf")


def test_a_search_ends_when_the_time_is_up() -> None:
    case, finding = FAILS.case, FAILS.findings[0]
    played: list[Case] = []

    def fails(candidate: Case) -> Finding:
        played.append(candidate)
        return finding

    found = shrink(case, finding, fails, goes_on=lambda: len(played) < 2)
    assert len(played) == found.plays == 2
    assert found.case == played[-1]
    assert shrink(case, finding, fails, goes_on=lambda: False).plays == 0


def test_no_other_script_is_tried_when_the_time_is_up() -> None:
    """A script that shows nothing by itself cost the search for another smallest case."""
    tried: list[Case] = []

    class Mute(Scripts):
        def __init__(self) -> None:
            pass

        def add(self, failure: Failure, *rest: object) -> Failure:
            tried.append(failure.case)
            return dataclasses.replace(failure, script_note="it does not show the failure")

    members = tuple((cut(Workload(n=n), 1), FAILS.findings[0]) for n in (12, 16, 20))
    group = Group("RESUME-1", members)
    failure = Failure(members[0][1], ("map",), members[0][0], "")
    bench = Bench(Engine(lambda case, session: True))
    shown(bench, group, failure, Mute(), shrinking=True, until=0.0)
    assert tried == [members[0][0]]
    shown(bench, group, failure, Mute(), shrinking=False)
    assert len(tried) == 4
