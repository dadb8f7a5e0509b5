"""The judges: pure functions from traces to findings, one for each judged requirement.

- ``registry``: the table of judges; ``view``: the case, its trace and the expected batches, as
  judges see them.
- ``basis``: a loader that runs, and agrees with itself; ``state``: states as values; ``resume``:
  exact resumes.
- ``epochs``: ends of epochs and later epochs; ``values``: random numbers; ``history``: combined
  steps.
- ``execution``: changed executions, batches out of order, several ranks.
- ``refusal``: states that must be refused; ``faults``: errors; ``outages``: after errors;
  ``cost``: size and time.
- ``format``: midepoch's state document, its order and seeds, and the published vectors.
"""

from __future__ import annotations

from collections.abc import Iterator

from midepoch_conformance.case.case import CAUGHT, HISTORY, Case
from midepoch_conformance.case.trace import Fault, Trace
from midepoch_conformance.errors import own_error
from midepoch_conformance.judges import (
    basis,
    cost,
    epochs,
    faults,
    history,
    outages,
    refusal,
    resume,
    state,
    values,
)
from midepoch_conformance.judges.execution import dealt, elastic, shared, unordered, world
from midepoch_conformance.judges.format import document, order, published
from midepoch_conformance.judges.registry import REGISTRY, Judge
from midepoch_conformance.judges.view import View
from midepoch_conformance.verdict.finding import Finding, in_words, place
from midepoch_conformance.verdict.prerequisites import PREREQUISITES

__all__ = ["PREREQUISITES", "REGISTRY", "Judge", "applicable", "judge"]

# The modules register their judges when they are imported.
_MODULES = (
    basis, resume, epochs, state, elastic, values, refusal, faults, outages, history, cost, world,
    shared, dealt, unordered, document, published, order,
)  # fmt: skip


_TAMPERED = frozenset({"load_bogus", "load_cut"})
"""The steps that load values that the adapter's ``state`` did not return."""


def applicable(case: Case) -> tuple[str, ...]:
    """Return the ids of the requirements whose judges look at a case."""
    return tuple(j.requirement for j in REGISTRY.values() if case.probe in j.families)


def judge(
    case: Case,
    trace: Trace,
    oracle: Trace | None,
    live_load: str = "either",
    broken: str = "counts",
) -> list[Finding]:
    """Return the findings of the judges that look at this case, each with its place.

    Args:
        case: the played case.
        trace: the case's trace.
        oracle: the uninterrupted run's trace; None if the case needs none.
        live_load: what the loader documents of a load into a live iterator (``Offer.live_load``).
        broken: what it documents of an epoch that is broken off (``Offer.broken``).
    """
    names = applicable(case)
    documented = live_load, broken
    found = [_judged(REGISTRY[name], case, trace, oracle, documented) for name in names]
    if "BASIS-1" not in names and oracle is not None:
        # The run that a case is compared with is a run, too.
        found.append(basis.broken_run(View("BASIS-1", case, trace, oracle, *documented)))
    return [place(finding, case) for finding in found if finding is not None]


def _judged(
    judge: Judge, case: Case, trace: Trace, oracle: Trace | None, documented: tuple[str, str]
) -> Finding | None:
    # An adapter's own fault decides, even after faults that steps tolerate.
    ours = next((f for f in (*_faults(oracle), *_faults(trace)) if f.kind == "adapter"), None)
    if ours is not None and _is_tampered(case):
        # The loader cannot check the adapter's own part of a state.
        return Finding(judge.requirement, "not offered", "adapter", in_words(ours))
    if ours is not None:
        return Finding(judge.requirement, "error", "adapter", in_words(ours))
    fault = _first_fault(oracle)
    caught = case.probe in CAUGHT and case.workload.fail_at is not None
    if fault is not None and not (judge.alone or caught):
        delivered = sum(session.delivered for session in oracle.sessions) if oracle else 0
        words = f"an uninterrupted run fails here: {in_words(fault, delivered)}"
        if case.probe == HISTORY and outages.carried(fault):
            words = "a sample raises here on purpose: other cases judge this"
        return Finding(judge.requirement, "not offered", "oracle", words)
    try:
        return judge.function(View(judge.requirement, case, trace, oracle, *documented))
    except Exception as error:
        # A fault of the suite must neither end a check nor count as the loader's.
        words = f"the suite's judge failed: {own_error(error)}"
        return Finding(judge.requirement, "error", "judge", words)


def _is_tampered(case: Case) -> bool:
    return any(step.do in _TAMPERED for plan in case.sessions for step in plan.steps)


def _faults(trace: Trace | None) -> Iterator[Fault]:
    for session in trace.sessions if trace else ():
        found = (session.fault, *(event.fault for event in session.events))
        yield from (fault for fault in found if fault is not None)


def _first_fault(trace: Trace | None) -> Fault | None:
    faults = (session.first_fault() for session in (trace.sessions if trace else ()))
    return next((fault for fault in faults if fault is not None), None)
