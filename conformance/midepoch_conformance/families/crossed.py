"""Crossed cases: families of workers once more, on what they leave as it is (pure).

A family varies what it is about, and leaves the rest at its default: workers are processes that
end with their epoch, and batches are small. Here each family of workers is played with other values
of these, too. None of them may change a batch, so the family's judges stay as they are.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from midepoch_conformance.case.case import Case, has_workers
from midepoch_conformance.case.workload import Workload
from midepoch_conformance.families.delivery import WIDTHS
from midepoch_conformance.families.family import Family, families

__all__ = ["crossed"]

SECTIONS = ("basics", "execution", "faults", "outages", "held", "extremes", "users")
"""The sections whose families are crossed; drawn histories combine what the others are about."""

_ROW_FIELDS = ("draws", "tree", "payload", "collated", "falsy", "sampler", "private", "log")
"""The fields of a workload that need rows of their own; a ``log`` may be of a long epoch."""

Change = Callable[[Case], "Case | None"]


def crossed(profile: str, cases: Iterable[Case]) -> Iterator[Case]:
    """Yield the crossed cases of a profile, made of its ``cases``.

    Quick plays each family with one of the changes, and full with each of them.

    Example:
        >>> from midepoch_conformance.case.notation import parse, show
        >>> show(next(crossed("quick", [parse("plain: workers=2; drain")])))
        'plain: workers=2 persistent=true prefetch=1; drain'
    """
    with_workers: dict[str, list[Case]] = {}
    for case in sorted(filter(has_workers, cases), key=lambda case: case.id):
        with_workers.setdefault(case.probe, []).append(case)
    chosen = [
        family for family in families() if _is_crossed(family) and family.name in with_workers
    ]
    for number, family in enumerate(chosen):
        turn = number % len(CHANGES)
        changes = (*CHANGES[turn:], *CHANGES[:turn])
        found = (_first(change, with_workers[family.name]) for change in changes)
        made = (case for case in found if case is not None)
        yield from itertools.islice(made, 1) if profile == "quick" else made


def _is_crossed(family: Family) -> bool:
    return family.section in SECTIONS and "format" not in family.needs


def _first(change: Change, cases: Iterable[Case]) -> Case | None:
    """Return the first of the cases that can be changed, changed."""
    return next((made for made in map(change, cases) if made is not None), None)


def _persistent(case: Case) -> Case | None:
    """Let the workers live on after an epoch, and make one batch ahead."""
    if any(session.execution.persistent for session in case.sessions):
        return None
    return _executed(case, persistent=True, prefetch=1)


def _threads(case: Case) -> Case | None:
    """Let the workers be threads, unless one dies: nobody can kill a thread."""
    kinds = {session.execution.worker_kind for session in case.sessions}
    killed = any(step.do == "lose" for session in case.sessions for step in session.steps)
    dies = any(w.die_at is not None or w.exits_at for w in _workloads(case))
    return None if killed or dies or "thread" in kinds else _executed(case, worker_kind="thread")


def _large(case: Case) -> Case | None:
    """Let each row be large, and persistent workers send it."""
    w = case.workload
    usual = Workload()
    plain = w.kind in ("map", "iterable") and w.width == usual.width and w.batch_size
    plain = plain and all(getattr(w, name) == getattr(usual, name) for name in _ROW_FIELDS)
    if not plain or any(one.fails_in != usual.fails_in for one in _workloads(case)):
        return None
    made = dataclasses.replace(case, workload=dataclasses.replace(w, width=max(WIDTHS)))
    return _persistent(made) or made


CHANGES: tuple[Change, ...] = (_persistent, _threads, _large)
"""The changes, of which each family's turn in quick is another one."""


def _workloads(case: Case) -> list[Workload]:
    return [case.session_workload(number) for number in range(len(case.sessions))]


def _executed(case: Case, **changes: Any) -> Case:
    """Return the case with other executions, where there are workers."""
    sessions = tuple(
        dataclasses.replace(plan, execution=dataclasses.replace(plan.execution, **changes))
        if plan.execution.workers
        else plan
        for plan in case.sessions
    )
    return dataclasses.replace(case, sessions=sessions)
