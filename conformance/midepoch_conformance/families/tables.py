"""The case tables: which cases each profile plays.

``python -m midepoch_conformance.families.tables --write`` generates the committed tables again.
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import hashlib
import itertools
import json
from collections.abc import Iterable, Iterator
from importlib import resources
from pathlib import Path
from typing import Any

from midepoch_conformance.case.case import Case
from midepoch_conformance.case.workload import KINDS
from midepoch_conformance.families import covering
from midepoch_conformance.families.delivery import WIDTHS
from midepoch_conformance.families.family import FAMILIES, ITERABLES, Cell, Family, families
from midepoch_conformance.families.histories import CHECKED, UNTOLD
from midepoch_conformance.families.unusual import UNUSUAL

__all__ = ["PROFILES", "Table", "TableError", "load_table", "table_digest", "tables"]

PROFILES = ("quick", "full")

COMMON = ("kind", "shuffle", "shape", "tail")
OWN = (
    "cut", "where", "links", "soon", "asked", "used", "epoch", "times", "codec", "position",
    "interval", "pair", "change", "draw", "value", "part", "plan", "sample", "when",
    "seed", "chunk", "vector", "counts", "plot", "ranks", "worlds", "order", "then", "sizes",
    "width", "begun", "later", "payload",
)  # fmt: skip
"""The axes of single families."""
NOT_BY_KIND = ("value", "part", "codec", "sizes", "order", "then", "width")
"""The axes that full does not combine with each kind of workload when there are workers."""
PHYSICAL = ("workers", "prefetch", "persistent")
REAL = 7
"""A shape with at least this many samples has enough batches to be cut."""

GROUPS: dict[tuple[str, bool], tuple[tuple[str, ...], ...]] = {
    ("quick", False): (
        ("family", "kind"),
        ("family", "shape"),
        ("table", "kind", "shuffle"),
        ("table", "kind", "tail"),
        *itertools.combinations(COMMON, 2),
        *(("table", "kind", axis) for axis in OWN if axis not in ("value", "part")),
        *(("real", axis) for axis in ("rest", *OWN)),
        ("table", "shuffle", "codec"),
        ("format", "kind", "shuffle"),
        ("outage", "kind"),
        ("behind",),
        ("dropped",),
        ("kept",),
        *(("format", axis) for axis in OWN),
        ("user", "plot"),
        ("told",),
    ),
    ("quick", True): (
        ("family",),
        ("core", "kind", "shuffle"),
        ("core", "workers"),
        ("format", "kind"),
        ("kind", "workers"),
        ("changed", "kind"),
        ("draw", "kind"),
        ("outage", "where"),
        ("outage", "when"),
        ("unordered", "kind"),
        ("user", "kind"),
        ("set up",),
        *itertools.combinations(PHYSICAL, 2),
        *(
            ("family", axis)
            for axis in (
                "change",
                "pair",
                "counts",
                "interval",
                "soon",
                "used",
                "plot",
                "width",
                "payload",
            )
        ),
    ),
    ("full", False): (
        *itertools.combinations(("real", *COMMON), 3),
        ("family", "kind", "shape"),
        ("real", "kind", "rest"),
        *(("real", "kind", "shuffle", axis) for axis in OWN),
        *(("real", "shape", axis) for axis in OWN),
        *(("real", *pair) for pair in itertools.combinations(OWN, 2)),
        *(("format", "kind", axis) for axis in ("shuffle", *OWN)),
        ("dropped",),
        ("kept",),
        ("user", "kind", "plot"),
    ),
    ("full", True): (
        ("real", "kind", "shuffle"),
        ("real", "workers"),
        ("resized", "kind", "pair"),
        ("user", "kind", "persistent"),
        ("set up",),
        *itertools.combinations((*PHYSICAL, *COMMON), 3),
        *(("family", axis) for axis in OWN),
        *(("kind", axis) for axis in OWN if axis not in NOT_BY_KIND),
    ),
}
"""The axes that are combined in each part of a profile: without workers, and with them.

Quick combines pairs over all axes, full combines triples. With workers the families take part in
pairs alone, to stay within the budget. Some axes repeat the family in a part of its rows: ``real``
in rows with enough batches, ``table`` in those of them that histories do not have, ``core`` in
those that quick plays with workers on every kind, ``format`` and ``outage`` in their sections,
``resized`` where the worker count changes, ``unordered`` where there are two resumes. ``user`` are
the families of what users hand to a loader, ``told`` programs in which the dataset cannot tell its
state, or whose replays are checked, and ``set up`` a set-up of workers, kept ones or not.
"""

UNUSUAL_GROUPS: dict[tuple[str, bool], tuple[tuple[str, ...], ...]] = {
    ("quick", False): (
        ("family", "kind"),
        ("family", "shape"),
        ("each", "unusual", "shuffle"),
        ("each", "unusual", "kind"),
        ("cut aspect", "kind"),
        ("tree",),
        ("encoded",),
        ("left",),
        *(("family", axis) for axis in OWN if axis != "interval"),
    ),
    ("quick", True): (
        ("family",),
        ("aspect",),
        ("left ahead",),
        ("crossing",),
        ("ended",),
        ("kind", "workers"),
        ("persistent",),
        *(("family", axis) for axis in ("pair", "interval")),
    ),
    ("full", False): (
        ("family", "kind", "shuffle", "unusual"),
        ("tree",),
        ("family", "kind", "shape"),
        *(("family", "kind", axis) for axis in OWN),
        *(("family", "aspect", axis) for axis in OWN),
        *(("unusual", axis) for axis in OWN),
    ),
    ("full", True): (
        ("family",),
        ("uneven", "kind"),
        ("outside", "unusual"),
        ("resumed", "aspect"),
        ("aspect", "kind"),
        ("unusual",),
        ("kind", "workers", "persistent"),
        *itertools.combinations((*PHYSICAL, "kind", "shape"), 2),
        *(("family", axis) for axis in ("pair", "epoch", "codec", "draw", "interval")),
    ),
}
"""The same for the families on unusual workloads, which have tables of their own.

``aspect`` is the workload's unusual property. ``each`` is the family where quick plays it on every
workload of the aspect. ``tree`` is the tree where the state is not a first one, and ``crossing``
some of these; ``encoded`` are trees in JSON, ``ended`` is the end of one lane long before that of
another, and ``left`` is a state that was taken after an epoch was left. ``left ahead`` is an epoch
of a sampler's that workers are ahead of, and that is left before its end is seen. ``uneven``,
``resumed`` and ``outside`` are some families. Quick plays the other families on unusual workloads
seldom: its histories have these workloads.
"""

CROSSING = ("containers", "arrays", "tensors", "mutated")
"""The trees that quick sends from process to process."""

QUICK_VALUES: dict[str, tuple[Any, ...]] = {
    "pair": ((3, 0), (3, 2), (1, 3), (0, 2)),
    "part": (0, 1, 2, 3, 4, 6, 8, 11),
    "payload": ("arrays", "objects"),
}
"""The axes that are shorter in quick."""


class TableError(ValueError):
    """The profile does not exist, or its committed table cannot be read."""


@dataclasses.dataclass(frozen=True)
class Table:
    """One part of a profile: all its possible rows, and the axes that are combined in it."""

    rows: tuple[dict[str, Any], ...]
    groups: tuple[tuple[str, ...], ...]

    @functools.cached_property
    def chosen(self) -> list[dict[str, Any]]:
        """The rows that cover the groups."""
        return [self.rows[i] for i in covering.cover(self.rows, self.groups)]


def load_table(profile: str) -> list[Case]:
    """Return the committed cases of a profile, in their order.

    Raises:
        TableError: the profile does not exist.
    """
    if profile not in PROFILES:
        raise TableError(f"unknown profile {profile!r}; one of {', '.join(PROFILES)}")
    file = resources.files("midepoch_conformance.families") / "cases" / f"{profile}.jsonl"
    return [Case.from_json(json.loads(line)) for line in file.read_text("ascii").splitlines()]


def table_digest(table: Iterable[Case]) -> str:
    """Return the SHA-256 of the cases' ids, in the table's order."""
    return hashlib.sha256("\n".join(case.id for case in table).encode()).hexdigest()


@functools.lru_cache
def tables(profile: str) -> tuple[Table, ...]:
    """Return the parts of a profile: plain workloads and unusual ones, without workers and with."""
    return tuple(
        Table(tuple(_rows(profile, workers, unusual)), groups[profile, workers])
        for unusual, groups in ((False, GROUPS), (True, UNUSUAL_GROUPS))
        for workers in (False, True)
    )


def generate(profile: str) -> list[Case]:
    """Generate a profile's cases again and return each once, in the order of the families."""
    rows = [row for table in tables(profile) for row in table.chosen]
    cases = {case.id: case for case in map(case_of, rows) if case is not None}
    order = {family.name: i for i, family in enumerate(families())}
    return sorted(cases.values(), key=lambda c: (order[c.probe], has_workers(c), c.id))


def case_of(row: dict[str, Any]) -> Case | None:
    """Return the case of a row, or None for a row that makes no sense."""
    return FAMILIES[row["family"]].build(Cell(row["family"], row))


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
        if (family.section == "unusual") is not unusual:
            continue
        apart = {"left out", "inline"} if workers else {"left out"}
        if profile == "quick" and apart & set(family.quick):
            continue
        axes = _axes(family, profile, workers)
        # Covering chooses the earliest of equal rows, so each family prefers another kind. With
        # workers quick plays most families on one kind, which most loaders have.
        turn = 0 if profile == "quick" and workers else number % len(axes["kind"])
        axes["kind"] = axes["kind"][turn:] + axes["kind"][:turn]
        for values in itertools.product(*axes.values()):
            row = {"family": family.name, **dict(zip(axes, values, strict=True))}
            if _possible(row, profile) and case_of(row) is not None:
                yield row | _marks(row, family)


def _marks(row: dict[str, Any], family: Family) -> dict[str, Any]:
    """Return the axes that repeat the family, or another value, in some of its rows."""
    if family.section == "unusual":
        return _unusual_marks(row, family)
    if family.section in ("format", "positions", "drawn", "users"):
        by = "user" if family.section == "users" else "format"
        kept = (family.name, row["kind"], row.get("persistent"))
        is_set_up = kept == ("divided", kept[1], True) or row.get("where") == "worker"
        marks = {by: family.name, **({"set up": kept} if is_set_up else {})}
        if row.get("plot") in {*UNTOLD, *CHECKED}:
            marks["told"] = f"{row['kind']}, {row['plot']}"
        return marks
    marks = {"changed": row["change"]} if family.name == "changed execution" else {}
    # The draws of streams depend on the lane, those of other kinds on the batch alone.
    if family.name == "elastic" or (family.name == "elastic values" and row["kind"] in ITERABLES):
        marks["resized"] = family.name
    if family.name == "iterated again":
        marks["kept"] = row["keeper"]
    if family.section == "outages":
        marks["outage"] = family.name
    if family.name == "unordered" and (row["links"], row["then"]) == (2, False):
        marks["unordered"] = family.name
    if family.name == "fetched again" and row["interval"] > 1 and row["where"] != "epoch":
        marks["behind"] = f"{row['kind']}, {row['where']}"
    rest = row["shape"][0] % row["shape"][1]
    if family.name == "whole" and row["tail"] == "drop" and rest and not row["shuffle"]:
        marks["dropped"] = row["kind"]
    if row["shape"][0] >= REAL:
        marks["real"] = family.name
        if "drawn" not in family.quick:
            marks["table"] = family.name
        if rest:
            marks["rest"] = row["tail"]
        if "kinds" in family.quick:
            marks["core"] = family.name
    return marks


def _unusual_marks(row: dict[str, Any], family: Family) -> dict[str, Any]:
    name = family.name
    aspect = UNUSUAL[row["unusual"]].aspect if "unusual" in row else name
    marks = {
        "aspect": aspect,
        "uneven": name if name in ("uneven", "uneven plain") else None,
        "resumed": name if name in ("work cut", "work chain") else None,
        "outside": name if name == "work execution" else None,
        "each": name if aspect in family.each else None,
        "left ahead": _left_ahead(row),
        "cut aspect": aspect if name == "work cut" else None,
    }
    late = name == "work cut" and row.get("workers", 0) > 1 and row["cut"] == "last"
    if late and row["unusual"] == "uneven":
        marks["ended"] = row["kind"]
    if name == "work left and saved":
        marks["left"] = f"{row['unusual']}, {row['where']}"
    if name == "work codec" and row["codec"] == "json" and row["unusual"] in CROSSING:
        marks["encoded"] = row["unusual"]
    if name == "work tree" and row["cut"] == "half":
        marks["tree"] = row["unusual"]
        marks["crossing"] = row["unusual"] if row["unusual"] in CROSSING else None
    return {axis: value for axis, value in marks.items() if value is not None}


def _left_ahead(row: dict[str, Any]) -> str | None:
    """Return what leaves an epoch before its end is seen, where a sampler was read ahead."""
    if row["family"] == "work left early":
        return f"work left early, {row['unusual']}"
    own = row.get("unusual") in ("stateful", "custom", "batches") and row["kind"] == "map"
    left = row["family"] == "work end unseen" or row.get("cut") == "last"
    uneven = row["shape"][0] % row["shape"][1]
    name = row["family"]
    if own and left and uneven and name in ("work break", "work end unseen"):
        return f"{name}, {row['unusual']}"
    return None


def _worth_workers(row: dict[str, Any]) -> bool:
    """Return whether quick's small budget has room for a row with workers."""
    if row["family"] == "fetched again" and row["interval"] > 1:
        # With several lanes the last snapshots of all of them lie far apart.
        lanes = row["workers"] > 1 and row["kind"] == "stateful_map"
        return bool(lanes and row["where"] == "epoch")
    if row["family"] == "healed" and row["interval"] == 100:
        return bool(row["kind"] == "stateful_map" and row["where"] == "through")
    if row["family"] == "changed workers" and row["kind"] in ITERABLES:
        fewer = (3, 2) if row["kind"] == "stateful_iterable" else (1, 3)
        return bool(row["pair"] == fewer)
    if row["family"] == "work elastic":
        return row["pair"] in ((3, 0), (0, 2))
    if row["family"] == "ambient streams":
        # Neither all of them nor each second one may be alike.
        return (row["workers"], row["kind"]) == (3, "iterable")
    if row["family"] == "seeds elsewhere":
        return bool(row["where"] == "worker")  # the other places have no workers of their own
    if row["family"] == "work execution":
        return bool(row["unusual"] == "distributed")  # its epochs differ most
    if "width" in row:
        return row["then"] is (row["width"] == min(WIDTHS))
    if row.get("change") in ("forkserver", "from spawn"):
        return False  # the changes "everything" and "spawn" have these methods too
    if row.get("change") in ("spawn", "everything"):
        # A spawned worker imports its framework anew: one that persists does so once.
        lasting = row["persistent"] or row["change"] != "spawn"
        mine = row["change"] == ("spawn" if row["family"] == "execution" else "everything")
        return mine and lasting and (row["workers"], row["kind"]) == (1, "map")
    if row["kind"] != "map" and "change" in row:
        stateful = row["kind"] == "stateful_iterable"
        return row["change"] == "prefetch" or (stateful and row["change"] in _STATEFUL_CHANGES)
    if row.get("change") in ("long interval", "from an interval"):
        return False  # played without workers
    return bool(row["kind"] == "map" or row.get("draw", "numpy") == "numpy")


_STATEFUL_CHANGES = ("persistent", "not persistent", "interval", "several")


def _axes(family: Family, profile: str, workers: bool) -> dict[str, tuple[Any, ...]]:
    axes: dict[str, tuple[Any, ...]] = {"kind": KINDS[:3], "shuffle": (False, True)}
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
    if row["shuffle"] and row["kind"] not in ("map", "stateful_map"):
        return False
    # Without workers, only the snapshot interval can change.
    if "change" in row and "workers" not in row and "interval" not in row["change"]:
        return False
    if profile == "quick" and (row.get("workers") or "pair" in row) and not _worth_workers(row):
        return False
    change = row.get("change")
    return not (
        (change == "prefetch" and row.get("prefetch"))
        or (change in ("persistent", "not persistent") and row["persistent"])
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
