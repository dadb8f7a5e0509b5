"""Verdicts: refusals, blocked failures, and the sum of many findings."""

from __future__ import annotations

import dataclasses

import pytest
from written import case, fault

from midepoch_conformance.case.trace import Fault
from midepoch_conformance.verdict import requirements
from midepoch_conformance.verdict.finding import (
    Finding,
    aggregate,
    block_dependents,
    class_words,
    in_words,
    is_refusal,
    is_slip,
    of_fault,
    place,
)
from midepoch_conformance.verdict.prerequisites import PREREQUISITES


@pytest.mark.parametrize(
    ("text", "delivered", "refusal"),
    [
        ("load ValueError other plan", 0, True),
        ("iter RuntimeError other plan", 0, True),
        ("next TypeError not a state", 0, True),
        ("load ValueError", 0, False),
        ("next ValueError other plan", 1, False),
        ("state ValueError cannot be saved", 0, False),
        ("load AssertionError lengths differ", 0, False),
        ("load KeyError 'epoch'", 0, False),
        ("load RecursionError too deep", 0, False),
        ("hang load", 0, False),
        ("crash load", 0, False),
        ("codec TypeError not JSON", 0, False),
    ],
)
def test_a_refusal_is_meant_and_in_time(text: str, delivered: int, refusal: bool) -> None:
    assert is_refusal(fault(text), delivered) is refusal


def test_a_subclass_of_an_accident_is_one() -> None:
    bases = ("MissingKeyError", "KeyError", "LookupError", "Exception", "BaseException")
    assert not is_refusal(Fault("raised", "MissingKeyError", bases, "no epoch", at="load"), 0)


@pytest.mark.parametrize(
    ("requirement", "text", "delivered", "outcome", "kind"),
    [
        ("RESUME-1", "load ValueError other plan", 0, "refused", ""),
        ("REFUSE-1", "load ValueError no state", 0, "pass", ""),
        ("STATE-2", "load ValueError no state", 0, "fails", "refusal"),
        ("RESUME-1", "load KeyError 'epoch'", 0, "fails", "bare error"),
        ("REFUSE-1", "load AssertionError", 0, "fails", "bare error"),
        ("RESUME-1", "next ValueError other plan", 2, "fails", "late error"),
        ("RESUME-1", "hang next", 0, "fails", "hang"),
        ("RESUME-1", "crash next", 2, "fails", "crash"),
        ("RESUME-1", "state ValueError not now", 0, "fails", "save"),
        ("STATE-3", "codec TypeError not JSON", 0, "fails", "codec"),
        ("RESUME-1", "adapter NameError x", 0, "error", "adapter"),
    ],
)
def test_a_fault_comes_to_what_the_requirement_says(
    requirement: str, text: str, delivered: int, outcome: str, kind: str
) -> None:
    found = of_fault(requirement, fault(text), delivered)
    assert (found.outcome, found.kind) == (outcome, kind)


def test_the_words_of_a_fault_say_when() -> None:
    assert of_fault("RESUME-1", fault("next ValueError no"), 3).words == (
        "ValueError: no (after 3 batches)"
    )


def found(requirement: str, outcome: str, workers: int = 0, kind: str = "") -> Finding:
    finding = Finding(requirement, outcome, kind, "words")
    return place(finding, case("cut", "drain", workers=workers))


def test_a_failure_is_blocked_by_a_prerequisite_at_the_same_worker_count_only() -> None:
    first = found("RESUME-1", "fails silently", workers=2)
    here, there = found("RESUME-2", "fails", workers=2), found("RESUME-2", "fails", workers=3)
    judged = found("RESUME-1", "pass", workers=3)
    assert [f.outcome for f in block_dependents([first, here, there, judged])] == [
        "fails silently",
        "blocked",
        "fails",
        "pass",
    ]


@pytest.mark.parametrize(("workers", "outcome"), [(0, "fails"), (1, "blocked"), (3, "blocked")])
def test_a_prerequisite_that_nothing_judged_there_blocks_as_it_fails_with_other_workers(
    workers: int, outcome: str
) -> None:
    first, later = (
        found("RESUME-1", "fails", workers=2),
        found("RESUME-2", "fails", workers=workers),
    )
    assert [f.outcome for f in block_dependents([first, later])] == ["fails", outcome]


def test_a_prerequisite_without_workers_blocks_nothing_with_workers() -> None:
    both = block_dependents([found("RESUME-1", "fails"), found("RESUME-2", "fails", workers=1)])
    assert [f.outcome for f in both] == ["fails", "fails"]


def test_a_pass_is_never_blocked() -> None:
    both = block_dependents([found("RESUME-1", "fails"), found("RESUME-2", "pass")])
    assert [f.outcome for f in both] == ["fails", "pass"]


def test_a_refusal_blocks_nothing() -> None:
    both = block_dependents([found("RESUME-1", "refused"), found("RESUME-2", "fails")])
    assert [f.outcome for f in both] == ["refused", "fails"]


def test_a_case_without_an_oracle_is_blocked_where_the_basis_fails() -> None:
    alone = found("RESUME-1", "not offered", kind="oracle")
    assert block_dependents([alone])[0].outcome == "not offered"
    assert block_dependents([alone, found("BASIS-1", "fails")])[0].outcome == "blocked"


def test_a_finding_may_need_more_than_its_requirement() -> None:
    later = dataclasses.replace(found("INTERVAL-1", "fails"), needs=("EPOCH-1",))
    assert block_dependents([later, found("EPOCH-1", "fails")])[0].outcome == "blocked"
    replayed = found("FAULT-10", "fails silently")
    assert block_dependents([replayed, found("FAULT-2", "fails")])[0].outcome == "blocked"
    assert (
        block_dependents([found("INTERVAL-1", "fails"), found("EPOCH-1", "fails")])[0].outcome
        == "fails"
    )


def test_a_failure_that_needs_what_presupposes_it_comes_after_that() -> None:
    """RESUME-1 presupposes BASIS-4, of which a resumed session is judged by RESUME-1's leave."""
    saved, resumed = found("BASIS-4", "fails"), found("RESUME-1", "fails")
    later = dataclasses.replace(saved, needs=("RESUME-1",))
    assert [f.outcome for f in block_dependents([later, resumed])] == ["blocked", "fails"]
    assert [f.outcome for f in block_dependents([later])] == ["fails"]
    all_three = [f.outcome for f in block_dependents([saved, later, resumed])]
    assert all_three == ["fails", "blocked", "blocked"]


def test_the_worst_outcome_decides_and_all_are_counted() -> None:
    findings = [
        found("EPOCH-2", "pass"),
        found("EPOCH-2", "fails"),
        found("EPOCH-2", "not offered"),
        found("BASIS-1", "pass"),
    ]
    basis, epochs = aggregate(findings)
    assert (basis.requirement, basis.outcome) == ("BASIS-1", "pass")
    assert epochs.outcome == "fails"
    assert epochs.counts == {"pass": 1, "fails": 1, "not offered": 1}
    assert class_words([basis, epochs]) == "exact 2 of 3, 1 fails, 1 not offered"


def test_prerequisites_are_requirements_and_no_circle() -> None:
    known = requirements.load()
    assert set(PREREQUISITES) <= set(known)

    def reaches(start: str, seen: tuple[str, ...] = ()) -> None:
        assert start not in seen
        for needed in PREREQUISITES.get(start, ()):
            assert needed in known
            reaches(needed, (*seen, start))

    for requirement in PREREQUISITES:
        reaches(requirement)


def test_the_index_is_read_whole() -> None:
    known = requirements.load()
    assert known["REFUSE-1"].refusal == "passes"
    assert {r.cls for r in known.values()} <= {c.name for c in requirements.classes()}
    with pytest.raises(requirements.RequirementError, match="no requirement 'RESUME-0'"):
        requirements.get("RESUME-0")


@pytest.mark.parametrize(
    ("line", "at", "slip"),
    [
        ("items = carried + rest", "iter", True),
        ("return default_collate(batch)[0]", "next", True),
        ('raise TypeError("no tensors in this batch")', "next", False),
        ("items = carried + rest", "load", False),
    ],
)
def test_a_type_error_of_pythons_own_in_an_epoch_is_a_slip(line: str, at: str, slip: bool) -> None:
    trace = (
        f'Traceback:\n  File "a.py", line 1, in run\n    go()\n  File "b.py", line 2\n    {line}\n'
    )
    fault = Fault("raised", "TypeError", ("TypeError",), "no", traceback=trace, at=at)
    assert is_slip(fault) is slip
    assert not is_slip(dataclasses.replace(fault, type="ValueError", bases=("ValueError",)))


def test_a_refusal_by_the_users_own_code_names_its_line() -> None:
    """A library's refusal is told without a line, and so is one of the user's load."""
    of_user = (
        'File "/site-packages/a.py", line 3, in f\n    go()\n  File "/home/me/late.py", line 5, in'
    )
    of_user += ' __iter__\n    raise ValueError("gone")'
    of_library = (
        'File "/home/me/late.py", line 5, in f\n    go()\n  File "/site-packages/a.py", line 3,'
    )
    of_library += ' in f\n    raise ValueError("gone")'
    fault = Fault("raised", "ValueError", ("ValueError",), "gone", of_user, at="iter")
    line = 'at late.py:5 `raise ValueError("gone")`'
    told = in_words(fault, 0)
    assert told == f"ValueError: gone (before the first batch, {line})"
    assert of_fault("RESUME-1", fault, 0).words == told
    assert of_fault("RESUME-1", fault, 0).outcome == "refused"
    for other in (
        dataclasses.replace(fault, traceback=of_library),
        dataclasses.replace(fault, at="load"),
    ):
        assert "late.py" not in in_words(other, 0)
