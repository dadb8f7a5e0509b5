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

from midepoch_conformance.case.case import Case, has_workers
from midepoch_conformance.facts.cases import facts_of
from midepoch_conformance.families import covering
from midepoch_conformance.families.crossed import crossed
from midepoch_conformance.families.family import families
from midepoch_conformance.families.kept import kept
from midepoch_conformance.families.rows import case_of, rows

__all__ = ["PROFILES", "Table", "TableError", "load_table", "table_digest", "tables"]

PROFILES = ("quick", "full")

COMMON = ("kind", "shuffle", "shape", "tail")
OWN = (
    "cut", "where", "links", "soon", "asked", "used", "epoch", "times", "codec", "position",
    "interval", "pair", "change", "draw", "value", "part", "plan", "sample", "when",
    "seed", "chunk", "vector", "counts", "plot", "ranks", "worlds", "order", "then", "sizes",
    "width", "begun", "later", "payload", "saved", "bad", "apart", "by", "last",
)  # fmt: skip
"""The axes of single families."""
NOT_BY_KIND = ("value", "part", "codec", "sizes", "order", "then", "width")
"""The axes that full does not combine with each kind of workload when there are workers."""
PHYSICAL = ("workers", "prefetch", "persistent")
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
        ("table", "codec", "where"),
        ("format", "kind", "shuffle"),
        ("outage", "kind"),
        ("behind",),
        ("dropped",),
        ("kept",),
        *(("format", axis) for axis in OWN),
        ("user", "plot"),
        ("told",),
        ("heals",),
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
        ("replaced",),
        ("removed",),
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
        ("pass before",),
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
``resized`` where the worker count changes, ``unordered`` where there are two resumes.
``replaced`` are workers that die after a snapshot, and ``removed`` the parts of a state of two
lanes. ``user`` are the families of what users hand to a loader, ``told`` programs in which the
dataset cannot tell its state, or whose replays are checked, and ``set up`` a set-up of workers,
kept ones or not. ``heals`` is a replay that fails once, ``pass before`` an exception that is caught
where the last snapshot is of the pass before, and ``uneven share`` a rank's share of odd samples.
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
        ("uneven share",),
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
        Table(tuple(rows(profile, workers=workers, unusual=unusual)), groups[profile, workers])
        for unusual, groups in ((False, GROUPS), (True, UNUSUAL_GROUPS))
        for workers in (False, True)
    )


def generate(profile: str) -> list[Case]:
    """Generate a profile's cases again and return each once, in the order of the families."""
    found = [row for table in tables(profile) for row in table.chosen]
    cases = {case.id: case for case in map(case_of, found) if case is not None}
    cases |= {case.id: case for case in kept()}
    cases |= {case.id: case for case in _biting(profile, cases.values())}
    cases |= {case.id: case for case in crossed(profile, cases.values())}
    order = {family.name: i for i, family in enumerate(families())}
    return sorted(cases.values(), key=lambda c: (order[c.probe], has_workers(c), c.id))


def _biting(profile: str, cases: Iterable[Case]) -> Iterator[Case]:
    """Yield, for each fact without which a family shows little and that no case has, one that has.

    The groups cover values, and a fact may lie in several of them together.
    """
    left = {family.name: set(family.bites) for family in families()}
    for case in cases:
        left[case.probe] -= facts_of(case)
    for row in (row for table in tables(profile) for row in table.rows if left[row["family"]]):
        made = case_of(row)
        if made is not None and left[made.probe] & (facts := facts_of(made)):
            left[made.probe] -= facts
            yield made


def dumps(cases: Iterable[Case]) -> str:
    """Return a table's text: a case a line, as canonical JSON."""
    lines = (json.dumps(c.to_json(), sort_keys=True, separators=(",", ":")) for c in cases)
    return "".join(line + "\n" for line in lines)


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
