"""The case tables: which cases are played, what their uninterrupted run is, what is offered.

``python -m midepoch_conformance.families.tables --write`` generates the committed tables anew.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import functools
import hashlib
import itertools
import json
from collections.abc import Iterable, Iterator
from importlib import resources
from pathlib import Path
from typing import Any

from midepoch_conformance.case.case import Case, SessionPlan, Step
from midepoch_conformance.case.history import HISTORY
from midepoch_conformance.case.workload import KINDS
from midepoch_conformance.families import (
    basics,
    covering,
    document,
    execution,
    faults,
    held,
    histories,
    outages,
    unordered,
    workloads,
    world,
)
from midepoch_conformance.families import unusual as works
from midepoch_conformance.families.axes import ITERABLES, Cell
from midepoch_conformance.families.family import PROBES, Probe
from midepoch_conformance.families.offered import offered

__all__ = [
    "PROFILES",
    "Table",
    "TableError",
    "load_table",
    "offered",
    "oracle_case",
    "table_digest",
    "tables",
]

# The modules register their families when they are imported.
_FAMILIES = (
    basics,
    execution,
    faults,
    document,
    histories,
    outages,
    unordered,
    workloads,
    world,
    held,  # the last: what comes before it is as it would be without it
)

PROFILES = ("quick", "full")

CORE = frozenset(
    {
        "plain", "saving", "cut", "chain", "resave", "end seen", "end unseen", "later", "interval",
        "workers", "elastic", "changed workers",
    }
)  # fmt: skip
"""The families that quick plays with workers on every kind of workload."""

COMMON = ("kind", "shuffle", "shape", "tail")
OWN = (
    "cut", "where", "links", "soon", "asked", "used", "epoch", "times", "codec", "position",
    "interval", "pair", "change", "draw", "value", "part", "plan", "sample", "when",
    "seed", "chunk", "vector", "counts", "plot", "ranks", "worlds", "order", "then", "sizes",
    "width",
)  # fmt: skip
"""The axes of single families."""
NOT_BY_KIND = ("value", "part", "codec", "sizes", "order", "then", "width")
"""Those of which full does not combine all with each kind of workload where there are workers."""
PHYSICAL = ("workers", "prefetch", "persistent")
REAL = 7
"""Samples from which on a shape has batches enough to be cut."""

GROUPS: dict[tuple[str, bool], tuple[tuple[str, ...], ...]] = {
    ("quick", False): (
        ("probe", "kind"),
        ("probe", "shape"),
        ("real", "kind", "shuffle"),
        ("real", "kind", "tail"),
        *itertools.combinations(COMMON, 2),
        *(("real", "kind", axis) for axis in OWN if axis not in ("value", "part")),
        *(("real", axis) for axis in ("value", "part")),
        ("real", "kind", "shuffle", "where"),
        ("format", "kind", "shuffle"),
        ("outage", "kind"),
        *(("format", axis) for axis in OWN),
    ),
    ("quick", True): (
        ("probe",),
        ("core", "kind", "shuffle"),
        ("core", "workers"),
        ("format", "kind"),
        ("kind", "workers"),
        ("changed", "kind"),
        ("draw", "kind"),
        ("outage", "where"),
        ("outage", "when"),
        ("unordered", "kind"),
        *itertools.combinations(PHYSICAL, 2),
        *(
            ("probe", axis)
            for axis in ("change", "pair", "counts", "interval", "soon", "used", "plot", "width")
        ),
    ),
    ("full", False): (
        *itertools.combinations(("real", *COMMON), 3),
        ("probe", "kind", "shape"),
        *(("real", "kind", "shuffle", axis) for axis in OWN),
        *(("real", "shape", axis) for axis in OWN),
        *(("real", *pair) for pair in itertools.combinations(OWN, 2)),
        *(("format", "kind", axis) for axis in ("shuffle", *OWN)),
    ),
    ("full", True): (
        ("real", "kind", "shuffle"),
        ("real", "workers"),
        ("resized", "kind", "pair"),
        *itertools.combinations((*PHYSICAL, *COMMON), 3),
        *(("probe", axis) for axis in OWN),
        *(("kind", axis) for axis in OWN if axis not in NOT_BY_KIND),
    ),
}
"""What is combined in each part of a profile: without workers, and with them.

Pairwise over all axes in quick and three-way in full; with workers the families take part in
pairs alone, for the budget's sake. ``real``, ``core`` and ``format`` are the family again, in
the rows that are worth it; ``changed`` is the change, where it comes with a resume,
``resized`` the family, where it changes the worker count, and ``unordered``, where it is resumed
twice.
"""

WORK_GROUPS: dict[tuple[str, bool], tuple[tuple[str, ...], ...]] = {
    ("quick", False): (
        ("probe", "kind"),
        ("probe", "shape"),
        ("major", "sort"),
        ("each", "work", "shuffle"),
        ("cut everywhere", "work"),
        ("tree",),
        *(("probe", axis) for axis in OWN if axis != "interval"),
    ),
    ("quick", True): (
        ("probe",),
        ("sort",),
        ("crossing",),
        ("kind", "workers"),
        ("persistent",),
        *(("probe", axis) for axis in ("pair", "interval")),
    ),
    ("full", False): (
        ("probe", "kind", "shuffle", "work"),
        ("tree",),
        ("probe", "kind", "shape"),
        *(("probe", "kind", axis) for axis in OWN),
        *(("probe", "sort", axis) for axis in OWN),
        *(("work", axis) for axis in OWN),
    ),
    ("full", True): (
        ("probe",),
        ("uneven", "kind"),
        ("outside", "work"),
        ("resumed", "sort"),
        ("sort", "kind"),
        ("work",),
        ("kind", "workers", "persistent"),
        *itertools.combinations((*PHYSICAL, "kind", "shape"), 2),
        *(("probe", axis) for axis in ("pair", "epoch", "codec", "draw", "interval")),
    ),
}
"""The same for the families on unusual workloads, whose tables are apart.

``sort`` is what is unusual about the workload; ``each`` the family, where quick plays it on all
of them; ``tree`` the tree, where the state is not a first one, and ``crossing`` that of some;
``uneven``, ``resumed``, ``outside`` and ``major`` some of the families.
"""

MAJOR = frozenset(
    {"work chain", "work start", "work later", "work end seen", "work break", "work interval"}
)
"""The families that quick plays on each sort of unusual workload."""

CROSSING = ("containers", "arrays", "tensors", "mutated")
"""The trees that quick has cross from process to process."""

EACH: dict[str, frozenset[str]] = collections.defaultdict(
    frozenset,
    {
        "work cut": frozenset(works.SORTS),
        "work tree": frozenset(works.SORTS),
        # What a sampler depends on shows in later epochs.
        "work later": frozenset({"sampler", "epochs", "length"}),
    },
)
"""Of the families that quick plays on each such workload: of what sorts those are."""

QUICK_VALUES: dict[str, tuple[Any, ...]] = {
    "pair": ((3, 0), (3, 5), (1, 3), (0, 2)),
    "part": (0, 1, 2, 3, 4, 6, 8, 11),
}
"""The axes that are shorter in quick."""
QUICK_FILES = frozenset({"plain", "cut", "chain", "later", "end seen"})
"""The families that quick plays on shards."""

QUICK_INLINE = frozenset(
    {
        "whole", "size", "no state", "document tree", "document reload", "document end",
        "document plan", "document refused", "published resume", "order", "far position",
    }
)  # fmt: skip
"""The families that quick does not play with workers."""


CAUGHT = "caught"
"""The family whose uninterrupted run fails and goes on."""

OUTAGES = frozenset(
    {
        "killed", "caught", "after a death", "failing start", "held", "fetched once",
        "caller streams", "healed",
    }
)  # fmt: skip
"""The families that quick plays on every kind of workload, and at each of their moments."""


class TableError(ValueError):
    """A profile that there is none of, or a committed table that cannot be read."""


@dataclasses.dataclass(frozen=True)
class Table:
    """One part of a profile: all its possible rows, and the axes that are combined in it."""

    rows: tuple[dict[str, Any], ...]
    groups: tuple[tuple[str, ...], ...]

    @functools.cached_property
    def chosen(self) -> list[dict[str, Any]]:
        """The rows that cover the groups."""
        return [self.rows[i] for i in covering.cover(self.rows, self.groups)]


def families() -> list[Probe]:
    """Return all families in an order that no import changes."""
    order = {module.__name__: number for number, module in enumerate(_FAMILIES)}
    return sorted(PROBES.values(), key=lambda family: order[family.build.__module__])


def load_table(profile: str) -> list[Case]:
    """Return the committed cases of a profile, in their order.

    Raises:
        TableError: there is no such profile.
    """
    if profile not in PROFILES:
        raise TableError(f"unknown profile {profile!r}; one of {', '.join(PROFILES)}")
    file = resources.files("midepoch_conformance.families") / "cases" / f"{profile}.jsonl"
    return [Case.from_json(json.loads(line)) for line in file.read_text("ascii").splitlines()]


def oracle_case(case: Case) -> Case:
    """Return the uninterrupted run that a case is compared with.

    Execution and ambient state are the first session's; the workload's faults, log and state
    tree are left out. Where the caller catches a sample's exception the run has it too, and
    goes on after it.
    """
    first = case.sessions[0]
    caught = case.probe in (CAUGHT, HISTORY) and case.workload.fail_at is not None
    workload = dataclasses.replace(
        case.workload,
        fail_at=case.workload.fail_at if caught else None,
        stop_at=None,
        die_at=None,
        die_once=False,
        log=None,
        tree="",
        gate=None,
    )
    # A drain that is tolerated stops at the exception, and the next one ends the epoch.
    steps = (Step("drain", tolerate=caught),) * (workload.epochs * (1 + caught))
    return Case("oracle", workload, (SessionPlan(first.execution, steps, first.ambient, "a"),))


def table_digest(table: Iterable[Case]) -> str:
    """Return the SHA-256 of the cases' ids, in the table's order."""
    return hashlib.sha256("\n".join(case.id for case in table).encode()).hexdigest()


@functools.lru_cache
def tables(profile: str) -> tuple[Table, ...]:
    """Return the parts of a profile: plain workloads and unusual ones, without workers and with."""
    return tuple(
        Table(tuple(_rows(profile, workers, unusual)), groups[profile, workers])
        for unusual, groups in ((False, GROUPS), (True, WORK_GROUPS))
        for workers in (False, True)
    )


def generate(profile: str) -> list[Case]:
    """Return a profile's cases, generated anew: each once, in the order of the families."""
    rows = [row for table in tables(profile) for row in table.chosen]
    cases = {case.id: case for case in map(case_of, rows) if case is not None}
    order = {family.name: i for i, family in enumerate(families())}
    return sorted(cases.values(), key=lambda c: (order[c.probe], has_workers(c), c.id))


def case_of(row: dict[str, Any]) -> Case | None:
    """Return the case of a row, or None where the row makes no sense."""
    return PROBES[row["probe"]].build(Cell(row["probe"], row))


def has_workers(case: Case) -> bool:
    """Return whether any session of a case has workers."""
    return any(s.execution.workers for s in case.sessions)


def dumps(cases: Iterable[Case]) -> str:
    """Return a table's text: a case a line, as canonical JSON."""
    lines = (json.dumps(c.to_json(), sort_keys=True, separators=(",", ":")) for c in cases)
    return "".join(line + "\n" for line in lines)


def _rows(profile: str, workers: bool, unusual: bool) -> Iterator[dict[str, Any]]:
    for number, family in enumerate(families()):
        if workers not in family.workers:
            continue
        if (family.name in workloads.WORK_PROBES) is not unusual:
            continue
        if profile == "quick" and workers and family.name in QUICK_INLINE:
            continue
        axes = _axes(family, profile, workers)
        # The earliest of equal rows is chosen: each family prefers another kind. With workers
        # quick plays most families on one kind, the one that most loaders have.
        turn = 0 if profile == "quick" and workers else number % len(axes["kind"])
        axes["kind"] = axes["kind"][turn:] + axes["kind"][:turn]
        for values in itertools.product(*axes.values()):
            row = {"probe": family.name, **dict(zip(axes, values, strict=True))}
            if _possible(row, profile) and case_of(row) is not None:
                yield row | _marks(row)


def _marks(row: dict[str, Any]) -> dict[str, Any]:
    if row["probe"] in workloads.WORK_PROBES:
        sort = works.WORKS[row["work"]].sort if "work" in row else row["probe"]
        marks = {"sort": sort}
        if row["probe"] in ("uneven", "uneven plain"):
            marks["uneven"] = row["probe"]
        if row["probe"] in ("work cut", "work chain"):
            marks["resumed"] = row["probe"]
        if row["probe"] == "work execution":
            marks["outside"] = row["probe"]
        if row["probe"] in MAJOR:
            marks["major"] = row["probe"]
        if sort in EACH[row["probe"]]:
            marks["each"] = row["probe"]
        if row["probe"] == "work cut":
            marks["cut everywhere"] = row["kind"]
        if row["probe"] == "work tree" and row["cut"] == "half":
            marks["tree"] = row["work"]
            if row["work"] in CROSSING:
                marks["crossing"] = row["work"]
        return marks
    marks = {"changed": row["change"]} if row["probe"] == "changed execution" else {}
    if row["probe"] in document.FORMAT_PROBES:
        return {"format": row["probe"]}
    # What is drawn follows the lane where there are lanes, and the batch alone elsewhere.
    if row["probe"] == "elastic" or (row["probe"] == "elastic values" and row["kind"] in ITERABLES):
        marks["resized"] = row["probe"]
    if row["probe"] in OUTAGES:
        marks["outage"] = row["probe"]
    if row["probe"] == "unordered" and (row["links"], row["then"]) == (2, False):
        marks["unordered"] = row["probe"]
    if row["shape"][0] >= REAL:
        marks["real"] = row["probe"]
        if row["probe"] in CORE:
            marks["core"] = row["probe"]
    return marks


def _worth_workers(row: dict[str, Any]) -> bool:
    """Return whether quick's small budget has a place for a row with workers."""
    if "width" in row:
        return row["then"] is (row["width"] == min(held.WIDTHS))
    if row.get("change") == "spawn":
        return (row["workers"], row["kind"]) == (1, "map")
    if row["kind"] != "map" and "change" in row:
        stateful = row["kind"] == "stateful_iterable"
        return row["change"] == "prefetch" or (stateful and row["change"] in _STATEFUL_CHANGES)
    if row.get("change") in ("long interval", "from an interval"):
        return False  # played without workers
    return bool(row["kind"] == "map" or row.get("draw", "numpy") == "numpy")


_STATEFUL_CHANGES = ("persistent", "interval")


def _axes(family: Probe, profile: str, workers: bool) -> dict[str, tuple[Any, ...]]:
    # No loader offers shards on disk so far: quick keeps a few, for adapters to come.
    every = profile == "full" or (family.name in QUICK_FILES and not workers)
    kinds = KINDS[:4] if every else KINDS[:3]
    axes: dict[str, tuple[Any, ...]] = {"kind": kinds, "shuffle": (False, True)}
    if workers and not {"pair", "counts", "sizes"} & set(family.axes):
        axes["workers"] = (2, 1, 3)
        axes["prefetch"] = (None, 2) if profile == "quick" else (None, 2, 4)
        axes["persistent"] = (False, True)
    axes |= {"tail": ("keep",)} | dict(family.axes)
    if profile == "quick":
        for axis in QUICK_VALUES.keys() & axes.keys():
            axes[axis] = tuple(value for value in QUICK_VALUES[axis] if value in axes[axis])
    return axes


def _possible(row: dict[str, Any], profile: str) -> bool:
    if row["shuffle"] and row["kind"] not in ("map", "files", "stateful_map"):
        return False
    # Without workers there is nothing but the snapshot interval to change.
    if "change" in row and "workers" not in row and "interval" not in row["change"]:
        return False
    if profile == "quick" and (row.get("workers") or "pair" in row) and not _worth_workers(row):
        return False
    change = row.get("change")
    return not (
        (change == "prefetch" and row.get("prefetch"))
        or (change == "persistent" and row["persistent"])
    )


def main(arguments: list[str] | None = None) -> None:
    """Write the tables, or print their sizes."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--write", action="store_true", help="write cases/*.jsonl")
    write = parser.parse_args(arguments).write
    for profile in PROFILES:
        cases = generate(profile)
        multi = sum(map(has_workers, cases))
        print(f"{profile}: {len(cases) - multi} cases without workers, {multi} with")
        if write:
            path = Path(__file__).parent / "cases" / f"{profile}.jsonl"
            path.write_text(dumps(cases), "ascii")


if __name__ == "__main__":
    main()
