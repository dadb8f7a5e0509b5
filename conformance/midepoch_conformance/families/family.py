"""Families of cases: the cell that a case is made of, and the facts that a family states (pure)."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from midepoch_conformance.case.adapter import Execution
from midepoch_conformance.case.case import Case
from midepoch_conformance.case.notation import parse_sessions
from midepoch_conformance.case.workload import Workload

__all__ = [
    "CUTS",
    "FAMILIES",
    "GOES_ON",
    "ITERABLES",
    "LANED",
    "LONG",
    "NEEDS",
    "QUICK",
    "SECTIONS",
    "Builder",
    "Cell",
    "Family",
    "chained",
    "drains",
    "families",
    "family",
]

ITERABLES = ("iterable", "stateful_iterable")

LANED = (*ITERABLES, "stateful_map")
"""The kinds whose rows depend on the lane that makes them."""

CUTS = ("one", "half", "last")
"""After the first batch, after half of the batches, before the last batch."""

GOES_ON = "rewinding"
"""The stream whose iterator goes on after an exception: that of a generator is over."""

LONG = (1840, 4)
"""The shape for costs: long enough to show a cost that grows with the position."""

SECTIONS = (
    "basics", "execution", "faults", "format", "histories", "outages", "unordered", "unusual",
    "ranks", "held", "positions", "dealt", "stages", "extremes", "recuts",
    "groups", "drawn", "users",
)  # fmt: skip
"""The sections of a table, in the table's order; the families of a section follow each other.

A new section belongs at the end: the sections before it then keep their cases.
"""

NEEDS = ("samples", "fixed plan", "format")
"""The possible needs of a family, beside those that its cases show.

Its judges know the samples (``samples``: a user's own training loader has samples of its own), or
the plan stays fixed while the worker count changes (``fixed plan``), or the loader implements
midepoch's own format (``format``).
"""

QUICK = ("kinds", "inline", "drawn", "left out")
"""The ways in which the profile quick can play a family unlike its neighbours.

With workers on every kind of workload (``kinds``), without workers alone (``inline``), or each of
its own values once, as the drawn histories do all that it does (``drawn``), or not at all
(``left out``).
"""


@dataclasses.dataclass(frozen=True)
class Cell:
    """One row of a table: the family's name and a value for each of its axes."""

    family: str
    values: Mapping[str, Any]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self.values.get(name)

    @property
    def lanes(self) -> int | None:
        """Return the number of lanes to fix, or None to leave it to the loader.

        The number is the first session's. It is fixed for the kinds whose rows depend on it.
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
            # Any seed will do; shuffled workloads take another seed than the default.
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

    def play(self, sessions: str, workload: Workload | None = None, **changes: Any) -> Case:
        """Return the family's case with these sessions, on the cell's workload or another one.

        They are in the notation of ``case/notation.py``, as in ``take 2, save s | load s, drain``.
        ``changes`` change the execution of all of them, and brackets that of one session.
        """
        plans = parse_sessions(sessions, self.execution(**changes))
        return Case(self.family, self.workload() if workload is None else workload, plans)


Builder = Callable[[Cell], "Case | None"]
"""Makes the case of a cell, or None for a cell that makes no sense."""


@dataclasses.dataclass(frozen=True)
class Family:
    """A family of cases, with all that the tables and the offers know of it."""

    name: str
    """The name by which judges select the family's cases."""
    section: str
    """The section of the tables, one of :data:`SECTIONS`."""
    build: Builder
    """Makes the case of a cell."""
    axes: Mapping[str, tuple[Any, ...]]
    """The family's axes, beside those of all families or in place of them."""
    workers: tuple[bool, ...] = (False, True)
    """Whether the family is played without workers, with them, or both."""
    needs: tuple[str, ...] = ()
    """The family's needs of a loader; of :data:`NEEDS`."""
    quick: tuple[str, ...] = ()
    """How quick plays the family; of :data:`QUICK`."""
    each: tuple[str, ...] = ()
    """The aspects of unusual workloads of which quick plays the family on every one."""
    bites: tuple[str, ...] = ()
    """The facts without which the family shows little, in the words of ``facts/cases.py``. In
    every profile some case of the family has each of them: a case that the plainest loader offers,
    if it offers any."""


FAMILIES: dict[str, Family] = {}
"""All families by name; filled when the package is imported."""


def family(
    name: str,
    workers: tuple[bool, ...] = (False, True),
    *,
    section: str,
    needs: tuple[str, ...] = (),
    quick: tuple[str, ...] = (),
    each: tuple[str, ...] = (),
    bites: tuple[str, ...] = (),
    **axes: tuple[Any, ...],
) -> Callable[[Builder], Builder]:
    """Register the decorated builder as a family; see :class:`Family` for the arguments.

    Raises:
        ValueError: there is a family of that name, or a fact that is none of the known ones.
    """
    if section not in SECTIONS or not set(needs) <= set(NEEDS) or not set(quick) <= set(QUICK):
        raise ValueError(f"unknown facts of family {name!r}: {section!r}, {needs!r}, {quick!r}")

    def register(build: Builder) -> Builder:
        if name in FAMILIES:
            raise ValueError(f"two families are named {name!r}")
        FAMILIES[name] = Family(name, section, build, axes, workers, needs, quick, each, bites)
        return build

    return register


def families() -> list[Family]:
    """Return all families in the tables' order."""
    return sorted(FAMILIES.values(), key=lambda one: SECTIONS.index(one.section))


def drains(count: int) -> str:
    """Return the steps that drain ``count`` epochs."""
    return ", ".join(["drain"] * count)


def chained(*sessions: str) -> str:
    """Return sessions of which each saves a state at its end that the next one loads first.

    Example:
        >>> chained("take 2", "take 1", "drain")
        'take 2, save s0 | load s0, take 1, save s1 | load s1, drain'
    """
    first, *others = sessions
    return first + "".join(f", save s{i} | load s{i}, {text}" for i, text in enumerate(others))
