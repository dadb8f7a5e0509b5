"""Traces written by hand, in short: what each step of a case is said to have done.

A step's text is its batches, an id a digit: ``"01|23."`` are two batches and the epoch's end;
``"!load ValueError other plan"`` is a fault, after what was delivered before it.
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

from midepoch_conformance.case import notation
from midepoch_conformance.case.adapter import Execution
from midepoch_conformance.case.case import Case, SessionPlan, Step
from midepoch_conformance.case.trace import Batch, Event, Fault, SessionTrace, Trace
from midepoch_conformance.case.workload import Workload
from midepoch_conformance.judges import applicable, judge
from midepoch_conformance.verdict.finding import Finding

CUT = ("take 2, save s", "load s, drain, drain")
CUT_FIRST = ["01|23", ""]
"""The commonest case's sessions, and its first one as it is rightly played."""

SIX = Workload(n=6, batch_size=2)
FIRST, SECOND, THIRD = "01|23|45", "53|41|20", "24|05|13"
"""Three epochs of six samples; those after the first come in another order."""


def session(text: str, number: int = 0, **execution: Any) -> SessionPlan:
    """Read a session's steps, with a comma between them."""
    return notation.parse_session(text, number, **execution)


def case(probe: str, *sessions: str, workload: Workload = SIX, **execution: Any) -> Case:
    """Write a case, all its sessions under one execution."""
    plans = tuple(session(text, i, **execution) for i, text in enumerate(sessions))
    return Case(probe, workload, plans)


def batches(text: str) -> list[Batch]:
    """Read batches; ``01:0.5`` gives each sample of the batch that draw."""
    found: list[Batch] = []
    for part in filter(None, text.split("|")):
        digits, _, draw = part.partition(":")
        found.append([[int(d), *([float(draw)] if draw else [])] for d in digits])
    return found


def fault(text: str) -> Fault:
    """Read a fault: ``load ValueError a message``, ``hang next``, ``crash next``."""
    at, name, message = [*text.split(" ", 2), "", ""][:3]
    if at in ("hang", "crash"):
        return Fault(at, at, message="killed", at=name)
    if at == "adapter":
        return Fault("adapter", name, (name, "Exception"), message, at="load")
    known = getattr(builtins, name, None)
    bases = tuple(c.__name__ for c in known.__mro__ if c is not object) if known else (name,)
    kind = "codec" if at == "codec" else "raised"
    return Fault(kind, name, bases, message, at=at)


def event(number: int, do: str, text: str, opened: bool, **more: Any) -> Event:
    """Write an event."""
    delivered, _, failed = text.partition("!")
    ended = delivered.endswith(".")
    return Event(
        number,
        do,
        batches(delivered.rstrip(".")),
        ended=ended,
        opened=opened,
        fault=fault(failed) if failed else None,
        **more,
    )


def played(plan: SessionPlan, texts: Sequence[str], **more: Any) -> SessionTrace:
    """Write a session's trace; ``more`` are fields of its saves."""
    open_, events = False, []
    for number, (s, text) in enumerate(zip(plan.steps, texts, strict=False)):
        delivers = s.do in ("take", "drain")
        extra = more if s.do in ("save", "seal") else {}
        events.append(event(number, s.do, text, delivers and not open_, **extra))
        if delivers:
            open_ = not text.partition("!")[0].endswith(".")
        elif s.do in ("break", "load", "close"):
            open_ = open_ and s.do == "load"
    return SessionTrace(events)


def trace(of: Case, *sessions: Sequence[str], **more: Any) -> Trace:
    """Write a trace, a text for each step."""
    found = [played(p, texts, **more) for p, texts in zip(of.sessions, sessions, strict=False)]
    return Trace(of.id, found)


def whole(*epochs: str) -> Trace:
    """Write the uninterrupted run."""
    plan = SessionPlan(Execution(), (Step("drain"),) * len(epochs))
    return Trace("oracle", [played(plan, [f"{e}." for e in epochs])])


ORACLE = whole(FIRST, SECOND, THIRD)


def found(requirement: str, of: Case, t: Trace, oracle: Trace | None = ORACLE) -> Finding | None:
    """Return what one requirement's judge finds."""
    if requirement not in applicable(of):
        raise LookupError(f"{requirement} is not judged by {of.probe!r}")
    return next((f for f in judge(of, t, oracle) if f.requirement == requirement), None)


def outcome(requirement: str, of: Case, t: Trace) -> tuple[str, str]:
    """Return the outcome and the kind of what one requirement's judge finds."""
    finding = found(requirement, of, t)
    if finding is None:
        raise LookupError(f"{requirement} says nothing")
    return finding.outcome, finding.kind


def check(
    requirement: str,
    probe: str,
    sessions: tuple[str, ...],
    texts: tuple[list[str], ...],
    outcome: str,
    kind: str = "",
    words: str = "",
    **more: Any,
) -> None:
    """Assert what one requirement's judge finds on a written case and trace."""
    workload = more.pop("workload", SIX)
    execution = more.pop("execution", {})
    oracle = more.pop("oracle", ORACLE)
    of = case(probe, *sessions, workload=workload, **execution)
    finding = found(requirement, of, trace(of, *texts, **more), oracle)
    assert finding is not None
    assert (finding.outcome, finding.kind) == (outcome, kind), finding.words
    assert words in finding.words


def run(of: Case, *sessions: list[Event]) -> Trace:
    """Return a trace of sessions whose events are made elsewhere."""
    return Trace(of.id, [SessionTrace(events) for events in sessions])
