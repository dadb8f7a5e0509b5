"""The smoke gate: a loader that fails it has a faulty adapter or environment."""

from __future__ import annotations

import dataclasses

from midepoch_conformance.case.adapter import Execution, Offer
from midepoch_conformance.case.case import Case, SessionPlan, Step
from midepoch_conformance.case.trace import Fault
from midepoch_conformance.case.workload import Workload
from midepoch_conformance.errors import CheckError
from midepoch_conformance.host.faults import ENDLESS, is_late
from midepoch_conformance.host.system.deadline import BUSY, SPINS
from midepoch_conformance.playing.bench import Bench
from midepoch_conformance.playing.runner import RunnerError
from midepoch_conformance.verdict.finding import in_words
from midepoch_conformance.verdict.users_code import users_lines

__all__ = ["MORE_TIME", "advice_of", "smallest", "smoke"]

MORE_TIME = "give it more time if it is only slow: --timeout SECONDS"
"""The advice to a user whose loader is late."""


def smoke(bench: Bench) -> None:
    """Play the smallest case without an interruption.

    Raises:
        CheckError: it cannot be played, so any verdict would be about something else.
    """
    try:
        case = _smoke_case(bench)
        trace = bench.smoke(case)
    except RunnerError as error:
        raise CheckError(
            f"one plain epoch cannot be played: {error.message}", advice_of(error)
        ) from error
    info = bench.info
    name = info.name
    for session in trace.sessions:
        fault = session.first_fault()
        if fault is None:
            continue
        what = _FAULTS.get(fault.kind, "failed in")
        raise CheckError(
            f"{name} {what} {_epoch(case, info.function)}, so nothing was judged: "
            f"{in_words(fault, session.delivered)}",
            _hint(fault, info.function),
        )
    if not any(event.batches for session in trace.sessions for event in session.events):
        raise CheckError(
            f"{name} delivered nothing in one plain epoch, so nothing was judged",
            "look at the data and the paths that the function reads: is there anything?"
            if info.function
            else "Session.epoch() must return the epoch's batches, each a list of rows",
        )


def advice_of(error: RunnerError) -> str:
    """Return the lines of the user's own that led to an error, and what to do about it."""
    if error.trace:
        return f"{users_lines(error.trace)}\n{error.hint}".strip()
    return users_lines(error.hint) or error.hint


def _epoch(case: Case, own: bool) -> str:
    return "one plain epoch" + ("" if own else f" of {case.workload.n} samples")


_LINES = 3


_FAULTS = {
    "raised": "raised an error in",
    "hang": "did not finish",
    "crash": "crashed in",
    "codec": "delivered something that cannot be encoded in",
    "adapter": "has an adapter that raised an error in",
}


def _smoke_case(bench: Bench) -> Case:
    offer = bench.info.offer
    declined = "it offers no kind of workload, or no worker count"
    for kind in offer.kinds:
        for workers in sorted(offer.workers):
            case = smallest(offer, kind, workers)
            reason = bench.not_offered(case)
            if reason is None:
                return _whole(case) if bench.info.function else case
            declined = reason
    raise CheckError(
        f"the adapter offers no case to begin with: {declined}",
        "offer() must name a kind and a worker count that declines() accepts",
    )


def _whole(case: Case) -> Case:
    """Return the case with a whole epoch: a function's own epoch may have no end."""
    (plan,) = case.sessions
    plan = dataclasses.replace(plan, steps=(Step("drain"), Step("close")))
    return dataclasses.replace(case, sessions=(plan,))


def smallest(offer: Offer, kind: str, workers: int) -> Case:
    """Return the smallest uninterrupted case of a kind and worker count."""
    workload = Workload(
        kind=kind,
        n=4,
        batch_size=2,
        epochs=1,
        shuffle=offer.shuffles[0],
        tail=offer.tails[0],
    )
    execution = Execution(workers=workers, start_method=offer.start_methods[0])
    return Case("smoke", workload, (SessionPlan(execution, (Step("take", 2), Step("close"))),))


def _hint(fault: Fault, function: bool) -> str:
    own = users_lines(fault.traceback)
    if function and fault.type in (BUSY, SPINS, ENDLESS):
        end = "cut the epoch in the function, after some batches, if its data has no end"
        more = "use less data if it is only slow, or give it more time: --timeout SECONDS"
        return f"{own}\n{end}\n{more}".strip()
    if is_late(fault):
        return f"{own or fault.traceback}\n{MORE_TIME}".strip()
    if own:
        return own
    lines = "\n".join(fault.traceback.strip().splitlines()[-_LINES:])
    return lines or "repair the adapter, or the environment that it needs"
