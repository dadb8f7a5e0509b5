"""The rows of the tables: each combination of a family's values, and what marks it.

A table covers groups of axes. Most axes are values of the workload and the execution; ``_marks``
gives a row others, by which a table has some rows of a family whatever else it covers.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from midepoch_conformance.case.case import Case
from midepoch_conformance.case.workload import KINDS
from midepoch_conformance.families.delivery import WIDTHS
from midepoch_conformance.families.family import FAMILIES, ITERABLES, Cell, Family, families
from midepoch_conformance.families.histories import CHECKED, UNTOLD
from midepoch_conformance.families.unusual.aspects import UNUSUAL

__all__ = ["case_of", "rows"]

REAL = 7
"""A shape with at least this many samples has enough batches to be cut."""

CROSSING = ("containers", "arrays", "tensors", "mutated")
"""The trees that quick sends from process to process."""

QUICK_VALUES: dict[str, tuple[Any, ...]] = {
    "pair": ((3, 0), (3, 2), (1, 3), (0, 2)),
    "payload": ("arrays", "objects"),
}
"""The axes that are shorter in quick."""


def case_of(row: dict[str, Any]) -> Case | None:
    """Return the case of a row, or None for a row that makes no sense."""
    return FAMILIES[row["family"]].build(Cell(row["family"], row))


def rows(profile: str, *, workers: bool, unusual: bool) -> Iterator[dict[str, Any]]:
    """Yield all rows of one part of a profile that make sense."""
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
        lasting = family.name in _LASTING and row.get("persistent")
        is_set_up = lasting or row.get("where") == "worker"
        marks = {by: family.name, **({"set up": kept} if is_set_up else {})}
        if row.get("plot") in {*UNTOLD, *CHECKED}:
            marks["told"] = f"{row['kind']}, {row['plot']}"
        return marks
    marks = {"changed": row["change"]} if family.name == "changed execution" else {}
    # The draws of streams depend on the lane, those of other kinds on the batch alone.
    if family.name == "elastic" or (family.name == "elastic values" and row["kind"] in ITERABLES):
        marks["resized"] = family.name
    heals = family.name == "failed replay" and row["where"] == "heals" and row["interval"] > 1
    if heals and row["kind"] == "stateful_map" and not row["shuffle"]:
        marks["heals"] = row["kind"]  # its rows tell how often each was fetched
    if family.name == "iterated again":
        marks["kept"] = row["keeper"]
    if family.section == "outages":
        marks["outage"] = family.name
    if family.name == "caught" and row["where"] == "later" and row["interval"] > 1:
        marks["pass before"] = row["kind"]
    if family.name == "healed" and (row["where"], row["sample"]) == ("through", 9):
        marks["replaced"] = f"{row['kind']}, {row['interval']}, {row['shape']}"
    if family.name == "part removed" and row.get("workers") == 2 and row["kind"] == "iterable":
        marks["removed"] = row["part"]
    if family.name == "unordered" and (row["links"], row["then"]) == (2, False):
        marks["unordered"] = family.name
    if family.name == "fetched again" and row["interval"] > 1 and row["where"] != "epoch":
        marks["behind"] = f"{row['kind']}, {row['where']}"
    samples, size = row["shape"]
    rest = samples % size
    dropped = row["tail"] == "drop" and rest and samples > size  # beside whole batches
    if family.name == "whole" and dropped and not row["shuffle"]:
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


_LASTING = ("divided", "set stream", "lost twice", "used after a death")
"""The families of users that quick plays with persistent workers on each kind."""


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
    # Those that have ended are the last ones, or the first.
    if late and row["unusual"] in ("uneven", "rising"):
        marks["ended"] = f"{row['kind']}, {row['unusual']}"
    if late and row["unusual"] == "looping" and _ends_short(row):
        marks["ended"] = f"{row['kind']}, looping"
    if name == "work chain" and row["unusual"] == "distributed" and row["shape"][0] % 2:
        marks["uneven share"] = name if row.get("workers") else None
    if name == "work left and saved":
        marks["left"] = f"{row['unusual']}, {row['where']}"
    if name == "work codec" and row["codec"] == "json" and row["unusual"] in CROSSING:
        marks["encoded"] = row["unusual"]
    if name == "work tree" and row["cut"] == "half":
        marks["tree"] = row["unusual"]
        marks["crossing"] = row["unusual"] if row["unusual"] in CROSSING else None
    return {axis: value for axis, value in marks.items() if value is not None}


def _ends_short(row: dict[str, Any]) -> bool:
    """Return whether each lane's last batch is incomplete, so that it tells the lane's end."""
    samples, size = row["shape"]
    return samples % row["workers"] == 0 and bool(samples // row["workers"] % size)


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
    if row["family"] == "healed" and (row["kind"] == "stateful_map" or row["interval"] == 100):
        told = row["kind"] == "stateful_map"  # its rows tell how often each was fetched
        return bool(told and row["where"] == "through" and row["sample"])
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
