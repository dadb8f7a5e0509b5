"""A case's uninterrupted run, and the position of its steps in their epochs (pure).

Resolves ``take n = -1``, and tells the player where an epoch should end.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from midepoch_conformance.case.adapter import Execution
from midepoch_conformance.case.case import CAUGHT, HISTORY, Case, CaseError, SessionPlan, Step
from midepoch_conformance.case.workload import Workload

__all__ = [
    "Place",
    "batches_left",
    "counted",
    "oracle_case",
    "places",
    "usual_length",
    "usual_lengths",
]


def oracle_case(case: Case) -> Case:
    """Return the uninterrupted run that a case is compared with.

    The run has the first session's execution and ambient state. It has none of the workload's
    faults and log, and nothing of what is about states alone. If the caller catches a sample's
    exception, the run has the exception too, and continues after it.
    """
    first = case.sessions[0]
    caught = case.probe in (*CAUGHT, HISTORY) and case.workload.fail_at is not None
    workload = dataclasses.replace(
        case.workload,
        fail_at=case.workload.fail_at if caught else None,
        fails_also=case.workload.fails_also if caught else (),
        stop_at=None,
        die_at=None,
        exits_at=(),
        die_once=False,
        dies_again=False,
        fail_once=False,
        interrupt_at=None,
        log=None,
        tree="",
        gate=None,
        slow=(),
        unsaved=0,
        checked=False,
        skips=False,
    )
    # A tolerated drain stops at an exception, and the last drain ends the epoch.
    drains = 1 + caught + len(workload.fails_also)
    steps = (Step("drain", tolerate=caught),) * (workload.epochs * drains)
    return Case("oracle", workload, (SessionPlan(first.execution, steps, first.ambient, "a"),))


@dataclasses.dataclass(frozen=True)
class Place:
    """A position: an epoch, and the batches delivered in it; ``open`` while it is iterated.

    ``named``: the caller wants no earlier epoch than this one.
    """

    epoch: int = 0
    done: int = 0
    open: bool = False
    named: int = 0

    def left(self, lengths: Sequence[int]) -> int:
        """Return how many batches the epoch has left; epochs beyond the last one are like it."""
        return max(0, lengths[min(self.epoch, len(lengths) - 1)] - self.done) if lengths else 0

    def after(self, step: Step, lengths: Sequence[int]) -> Place:
        """Return the position after a step."""
        left = self.left(lengths)
        if step.do == "take" and step.n == 0:
            return self
        if step.do == "take" and step.n <= left:
            done = self.done + (left if step.n == -1 else step.n)
            return dataclasses.replace(self, done=done, open=True)
        if step.do in ("take", "drain") or (step.do == "break" and self.open):
            return Place(max(self.epoch + 1, self.named), named=self.named)
        if step.do == "name_epoch":
            epoch = self.epoch if self.open or self.done else max(self.epoch, step.n)
            return dataclasses.replace(self, epoch=epoch, named=step.n)
        return self


def places(case: Case, lengths: Sequence[int]) -> list[list[Place]]:
    """Return for each session the position before each step, and the one after the last step."""
    saved: dict[str, Place] = {}
    found: list[list[Place]] = []
    for plan in case.sessions:
        session = [Place()]
        for step in plan.steps:
            place = session[-1].after(step, lengths)
            if step.do == "save":
                saved[step.state] = place
            elif step.do in ("seal", "recode"):
                saved[step.into] = saved.get(step.state, place)
            elif step.do == "open":
                place = Place()
            elif step.do in ("load", "load_cut") and not step.tolerate:
                # An epoch that was open is stale now: leaving it does not change the position.
                place = dataclasses.replace(saved.get(step.state, place), open=False, named=0)
            session.append(place)
        found.append(session)
    return found


def batches_left(case: Case, lengths: Sequence[int] | None) -> list[tuple[int | None, ...]]:
    """Return for each session and step how many batches the epoch has left before it."""
    if lengths is None:
        return [(None,) * len(plan.steps) for plan in case.sessions]
    walked = places(case, lengths)
    return [tuple(place.left(lengths) for place in session[:-1]) for session in walked]


def counted(case: Case, lengths: Sequence[int] | None) -> Case:
    """Return the case with every ``take n = -1`` as a number of batches.

    Raises:
        CaseError: the case has such a step, and no lengths are given.

    Example:
        >>> from midepoch_conformance.case.case import SessionPlan
        >>> steps = (Step("take", n=1), Step("take", n=-1))
        >>> case = Case("example", Workload(), (SessionPlan(Execution(), steps),))
        >>> counted(case, [4, 4]).sessions[0].steps[1].n
        3
    """
    if not any(step.n == -1 for plan in case.sessions for step in plan.steps):
        return case
    if lengths is None:
        raise CaseError(
            "the case takes all batches that are left: the lengths of its epochs are needed"
        )
    left = batches_left(case, lengths)
    sessions = tuple(
        dataclasses.replace(
            plan,
            steps=tuple(
                dataclasses.replace(step, n=left[index][number] or 0) if step.n == -1 else step
                for number, step in enumerate(plan.steps)
            ),
        )
        for index, plan in enumerate(case.sessions)
    )
    return dataclasses.replace(case, sessions=sessions)


def usual_length(w: Workload, x: Execution, epoch: int = 0) -> int:
    """Return how many batches an epoch has in most loaders.

    Iterable datasets are dealt to lanes, sample by sample unless the workload says otherwise, and
    each lane makes its own batches.

    Example:
        >>> usual_length(Workload(), Execution())
        4
        >>> usual_length(Workload(kind="iterable"), Execution(workers=5))
        5
        >>> usual_length(Workload(grow=4), Execution(), epoch=1)
        5
        >>> [usual_length(Workload(tail="rollover"), Execution(), epoch) for epoch in range(4)]
        [3, 3, 3, 4]
    """
    shares = _shares(w, x, epoch)
    if not w.batch_size:  # each batch is a sample's row
        return sum(shares)
    if w.tail == "rollover":
        carried = sum(sum(_shares(w, x, earlier)) for earlier in range(epoch)) % w.batch_size
        return (sum(shares) + carried) // w.batch_size
    # A user's batch sampler makes any batches, and all of them are kept.
    keeps = w.tail == "keep" or w.sampler in ("batches", "arrays")
    extra = w.batch_size - 1 if keeps else 0
    return sum((share + extra) // w.batch_size for share in shares)


def usual_lengths(w: Workload, x: Execution) -> list[int]:
    """Return how many batches each epoch has in most loaders."""
    return [usual_length(w, x, epoch) for epoch in range(w.epochs)]


def _shares(w: Workload, x: Execution, epoch: int) -> list[int]:
    """Return the number of samples of each lane, or of all lanes if they share their batches."""
    if w.kind in ("map", "stateful_map"):
        samples = len(w.subset) if w.sampler == "subset" else w.length(epoch)
        return [-(-samples // x.world) if w.sampler == "distributed" else samples]
    lanes = max(1, x.workers if x.lanes is None else x.lanes)
    if w.stream == "oneshot" and epoch:
        return [0] * lanes
    return [len(w.share(lane, lanes)) for lane in range(lanes)]
