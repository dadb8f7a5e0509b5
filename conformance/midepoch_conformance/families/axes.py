"""The axes of the case tables, and a cell: one choice on each of them (pure)."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from midepoch_conformance.case.adapter import Execution
from midepoch_conformance.case.case import Case, SessionPlan, Step
from midepoch_conformance.case.workload import Workload

__all__ = ["CUTS", "ITERABLES", "LANED", "LONG", "Cell", "drains", "load", "save", "take"]

ITERABLES = ("iterable", "stateful_iterable")

LANED = (*ITERABLES, "stateful_map")
"""The kinds whose rows depend on the lane that makes them."""

CUTS = ("one", "half", "last")
"""After the first batch, after half of them, before the last."""

LONG = (4000, 4)
"""The shape for costs: long enough that what grows with the position is seen to."""


@dataclasses.dataclass(frozen=True)
class Cell:
    """One row of a table: the probe's name and a value for each of its axes."""

    probe: str
    values: Mapping[str, Any]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self.values.get(name)

    @property
    def lanes(self) -> int | None:
        """Return the lanes to fix: those of the first session, else the loader's.

        They are fixed where rows depend on them.
        """
        if self.values.get("lanes") is not None:
            return int(self.values["lanes"])
        workers = self.values.get("workers", 0)
        return workers if workers and self.kind in LANED else None

    @property
    def length(self) -> int:
        """Return the number of batches of an epoch on one lane."""
        n, size = self.shape
        return int(n // size if self.tail == "drop" else -(-n // size))

    @property
    def at(self) -> int:
        """Return the cut as a number of batches."""
        return {"one": 1, "half": self.length // 2, "last": self.length - 1}[self.cut]

    def workload(self, epochs: int = 2, **more: Any) -> Workload:
        """Return the workload of the cell."""
        n, size = self.shape
        return Workload(
            kind=self.kind,
            n=n,
            batch_size=size,
            epochs=epochs,
            shuffle=bool(self.shuffle),
            # Any seed will do; shuffled workloads take another than the default.
            seed=3 if self.shuffle else 0,
            tail=self.tail or "keep",
            **more,
        )

    def execution(self, **changes: Any) -> Execution:
        """Return the execution of the cell."""
        base = Execution(
            workers=self.values.get("workers", 0),
            lanes=self.lanes,
            interval=self.values.get("interval", 1),
            start_method=self.values.get("start", "fork"),
            persistent=bool(self.persistent),
            prefetch=self.prefetch,
        )
        return dataclasses.replace(base, **changes)

    def session(self, number: int, *steps: Step, **changes: Any) -> SessionPlan:
        """Return session ``number``: its host and ambient state differ from its neighbour's.

        ``changes`` change the execution, but ``workload``, which changes that.
        """
        workload = tuple(changes.pop("workload", ()))
        execution = self.execution(**changes)
        return SessionPlan(execution, steps, 1 + 100 * number, "ab"[number % 2], workload)

    def case(self, workload: Workload, *sessions: SessionPlan) -> Case:
        """Return the case of the cell's probe."""
        return Case(self.probe, workload, sessions)


def take(n: int) -> Step:
    """Return the step that delivers ``n`` batches."""
    return Step("take", n)


def save(state: str, codec: str = "") -> Step:
    """Return the step that saves a state."""
    return Step("save", state=state, codec=codec)


def load(state: str) -> Step:
    """Return the step that loads a state."""
    return Step("load", state=state)


def drains(count: int) -> tuple[Step, ...]:
    """Return the steps that drain ``count`` epochs."""
    return (Step("drain"),) * count
