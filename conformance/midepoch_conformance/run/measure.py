"""Measures what states and resumes cost: sizes, samples fetched again, time to the first batch."""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Callable, Iterable

from midepoch_conformance.case.adapter import Execution
from midepoch_conformance.case.case import Case, SessionPlan, Step
from midepoch_conformance.case.trace import Event, SessionTrace, Trace
from midepoch_conformance.case.workload import Workload
from midepoch_conformance.playing.bench import Bench
from midepoch_conformance.playing.runner import RunnerError
from midepoch_conformance.verdict.finding import in_words
from midepoch_conformance.verdict.measured import EARLY, LATE, Measured

__all__ = ["NO_ADAPTER", "measure"]

NO_ADAPTER = (
    "--measure needs a loader with an adapter: a function's loader brings its own data",
    "leave --measure out, or write an adapter: docs/adapter.md",
)
"""The error of a function's loader, and its hint."""

SIZE = 2
"""Samples a batch."""

WORKERS = 2
"""The worker count that is measured, if the loader offers it."""

CODECS = ("json", "bytes", "torch", "pickle")
"""The codecs, the safest to read first."""

PLAYS = 3
"""How many resumes, and how many fresh runs, are timed; the median counts."""


def measure(bench: Bench) -> Measured | None:
    """Measure a loader; return None if it takes no states inside an epoch.

    The other cases of a check should have ended: the times are those of a machine of its own.
    """
    found = None
    # A codec that the loader offers may fail.
    for codec in sorted(bench.info.offer.codecs, key=CODECS.index):
        found = _measured(bench, codec)
        if found is None or found.first is not None:
            break
    return found


def _measured(bench: Bench, codec: str) -> Measured | None:
    case = _case(bench, codec)
    if case is None:
        return None
    measured = Measured(case.workload.kind, case.sessions[0].execution.workers, codec)
    try:
        trace = bench.play(case)
    except RunnerError as error:
        return dataclasses.replace(measured, trouble=error.message)
    saving, resumed, fresh = trace.sessions[:1], trace.sessions[1::2], trace.sessions[2::2]
    sizes = [e.size for s in saving for e in s.events if e.do == "save"]
    again = _median(resumed, _fetched)
    once = _median(fresh, _fetched)
    return dataclasses.replace(
        measured,
        early=sizes[0] if sizes else None,
        late=sizes[1] if len(sizes) > 1 else None,
        refetched=None if again is None or once is None else max(0, round(again - once)),
        first=_rounded(_median(resumed, _until_first)),
        fresh=_rounded(_median(fresh, _until_first)),
        trouble=_trouble(trace),
    )


def _case(bench: Bench, codec: str) -> Case | None:
    """Return the case of the first kind of workload that the loader offers with saved states."""
    offer = bench.info.offer
    if "mid" not in offer.saves:
        return None
    for kind in offer.kinds:
        for workers in sorted(offer.workers, key=lambda one: (one != WORKERS, one)):
            workload = Workload(
                kind=kind,
                n=(LATE + EARLY) * SIZE,
                batch_size=SIZE,
                epochs=1,
                shuffle=offer.shuffles[-1],
                tail=offer.tails[0],
                log="auto",
            )
            execution = Execution(workers=workers, start_method=offer.start_methods[0])
            early = (Step("take", EARLY), Step("save", state="early", codec=codec))
            late = (Step("take", LATE - EARLY), Step("save", state="late", codec=codec))
            taken = (Step("take", 1), Step("close"))
            resume = (Step("load", state="late"), *taken)
            plans = [(*early, *late, Step("close")), *[resume, taken] * PLAYS]
            sessions = tuple(SessionPlan(execution, steps) for steps in plans)
            case = Case("measured", workload, sessions)
            if bench.not_offered(case) is None:
                return case
    return None


def _fetched(session: SessionTrace) -> float | None:
    counts = [event.fetched for event in _played(session) if event.fetched is not None]
    return sum(counts) if counts else None


def _until_first(session: SessionTrace) -> float | None:
    return next((e.seconds for e in _played(session) if e.do == "take" and e.batches), None)


def _played(session: SessionTrace) -> Iterable[Event]:
    return (event for event in session.events if event.fault is None and event.do != "close")


def _median(
    sessions: Iterable[SessionTrace], figure: Callable[[SessionTrace], float | None]
) -> float | None:
    found = [value for value in map(figure, sessions) if value is not None]
    return statistics.median(found) if found else None


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 3)


def _trouble(trace: Trace) -> str:
    faults = (session.first_fault() for session in trace.sessions)
    return next((in_words(fault) for fault in faults if fault is not None), "")
