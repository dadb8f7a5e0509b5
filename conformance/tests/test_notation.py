"""Cases as text: each comes back, and what is no case is an error."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from midepoch_conformance.case.adapter import Execution
from midepoch_conformance.case.case import ACTIONS, Case, CaseError, SessionPlan, Step
from midepoch_conformance.case.notation import parse, parse_session, show, show_step
from midepoch_conformance.case.workload import AMBIENT_DRAWS, KINDS, Workload
from midepoch_conformance.families.tables import load_table

TEXTS = st.text(max_size=8) | st.sampled_from(["s", "no_state", "1", "true", "all", "a=b, [c]"])
NUMBERS = st.none() | st.integers(-1, 40)


def objects(made: type[Any], **given: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Draw objects; fields that are not given are drawn by the type of their default."""
    known = {bool: st.booleans(), int: st.integers(-1, 40), str: TEXTS}
    drawn = {
        f.name: known[type(f.default)]
        for f in dataclasses.fields(made)
        if type(f.default) in known and f.name not in given
    }
    return st.builds(made, **drawn, **given)


EXECUTIONS = objects(Execution, lanes=NUMBERS, prefetch=NUMBERS)
WORKLOADS = objects(
    Workload,
    kind=st.sampled_from(KINDS),
    draws=st.lists(st.sampled_from([*AMBIENT_DRAWS, "private numpy"]), max_size=2).map(tuple),
    tree=st.sampled_from(["", "plain", "mutated"]),
    payload=st.sampled_from(["", "arrays", "objects"]),
    stream=st.sampled_from(["plain", "buffer"]),
    state_at=st.sampled_from(["dataset", "both"]),
    fails_in=st.sampled_from(["dataset", "collate_fn"]),
    sampler=st.sampled_from(["", "custom"]),
    ranks=st.sampled_from(["", "shared"]),
    gate=st.none() | st.tuples(st.integers(0, 9), st.integers(0, 9)),
    log=st.none() | TEXTS,
    fail_at=NUMBERS,
    stop_at=NUMBERS,
    die_at=NUMBERS,
)
CHANGES = st.sampled_from(
    [("n", 3), ("shuffle", True), ("gate", (0, 6)), ("die_at", None), ("tail", "a b")]
)
PLANS = objects(
    SessionPlan,
    execution=EXECUTIONS,
    steps=st.lists(objects(Step, do=st.sampled_from(list(ACTIONS))), max_size=4).map(tuple),
    host=st.sampled_from("ab"),
    workload=st.lists(CHANGES, max_size=2, unique_by=lambda change: change[0]).map(tuple),
)
CASES = st.builds(
    Case,
    st.sampled_from(["cut", "edited after save"]),
    WORKLOADS,
    st.lists(PLANS, min_size=1, max_size=3).map(tuple),
)


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)  # a busy machine is slow
@given(CASES)
@example(Case("cut", Workload(n=0), (SessionPlan(Execution(interval=0), ()),)))
def test_any_case_comes_back(case: Case) -> None:
    again = parse(show(case))
    assert again == case
    assert show(again) == show(case)


def test_each_case_of_the_tables_comes_back() -> None:
    for case in [*load_table("quick"), *load_table("full")]:
        assert parse(show(case)) == case
        assert "\n" not in show(case)


def test_the_usual_is_not_told() -> None:
    case = parse("cut: take 3, save s | load s, drain, drain")
    assert case.workload == Workload()
    assert [(plan.ambient, plan.host) for plan in case.sessions] == [(1, "a"), (101, "b")]
    assert case.sessions[0].steps == (Step("take", 3), Step("save", state="s"))


def test_what_differs_is_told() -> None:
    text = (
        'other plan: n=6 draws=[python, "private numpy"] workers=2; take all, save s codec=json | '
        '[workers=1 host=a gate=[0, 6]] load s?, load_document a-b "{\\"x\\": 1}", seal s t'
    )
    case = parse(text)
    assert show(case) == text
    assert case.workload.draws == ("python", "private numpy")
    assert case.sessions[1].execution == Execution(workers=1)
    assert case.sessions[1].workload == (("gate", (0, 6)),)
    assert case.sessions[1].steps[1].document == '{"x": 1}'
    assert case.sessions[0].steps[0].n == -1


def test_a_step_is_told_in_short() -> None:
    assert show_step(Step("load_cut", 3, state="s", tolerate=True)) == "load_cut s 3?"
    assert show_step(Step("save", state="a b")) == 'save "a b"'
    assert parse_session("drain?, load_bogus none", workers=1).execution.workers == 1


@pytest.mark.parametrize(
    "text",
    [
        "drain",
        "cut: hop",
        "cut: break 3",
        "cut: color=red; drain",
        "cut: save s color=red",
        "cut: n 3; drain",
        "cut: [workers=2 drain",
        "cut: [color=red] drain",
        'cut: save "s',
    ],
)
def test_what_is_no_case_is_an_error(text: str) -> None:
    with pytest.raises(CaseError):
        parse(text)
