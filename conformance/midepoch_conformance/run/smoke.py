"""The smoke gate: failing it means that the adapter or its surroundings are wrong."""

from __future__ import annotations

from midepoch_conformance.case.adapter import Execution, Offer
from midepoch_conformance.case.case import Case, SessionPlan, Step
from midepoch_conformance.case.workload import Workload
from midepoch_conformance.errors import CheckError
from midepoch_conformance.run.bench import Bench
from midepoch_conformance.run.runner import RunnerError
from midepoch_conformance.verdict.finding import in_words

__all__ = ["smallest", "smoke"]


def smoke(bench: Bench) -> None:
    """Play the smallest cell without an interruption.

    Raises:
        CheckError: it cannot be played, so that nothing the suite would say is the loader's.
    """
    try:
        case = _smoke_case(bench)
        trace = bench.play(case)
    except RunnerError as error:
        raise CheckError(f"the smoke gate cannot be played: {error.message}", error.hint) from error
    fault = next((s.first_fault() for s in trace.sessions if s.first_fault() is not None), None)
    if fault is not None:
        raise CheckError(
            f"the smoke gate fails: an uninterrupted run of {case.workload.n} samples "
            f"{_FAULTS.get(fault.kind, fault.kind)}: {in_words(fault)}",
            _last_lines(fault.traceback) or "the adapter or its environment is wrong",
        )
    if not any(event.batches for session in trace.sessions for event in session.events):
        raise CheckError(
            "the smoke gate fails: an uninterrupted run delivers nothing",
            "Session.epoch() must return the epoch's batches, each a list of rows",
        )


_FAULTS = {
    "raised": "raises",
    "hang": "hangs",
    "crash": "crashes",
    "codec": "makes something that cannot be encoded",
    "adapter": "raises in the adapter's own code",
}


def _smoke_case(bench: Bench) -> Case:
    offer = bench.info.offer
    declined = "it offers no kind and worker count at all"
    for kind in offer.kinds:
        for workers in sorted(offer.workers):
            case = smallest(offer, kind, workers)
            reason = bench.not_offered(case)
            if reason is None:
                return case
            declined = reason
    raise CheckError(
        f"the adapter offers no cell to begin with: {declined}",
        "offer() must name a kind and a worker count that declines() accepts",
    )


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


def _last_lines(traceback: str, count: int = 3) -> str:
    return "\n".join(traceback.strip().splitlines()[-count:])
