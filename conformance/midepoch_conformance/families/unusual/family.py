"""A family on unusual workloads: the axes that such families share, and their cuts (pure)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from midepoch_conformance.case.case import Case
from midepoch_conformance.case.uninterrupted import usual_length
from midepoch_conformance.case.workload import Workload
from midepoch_conformance.families.family import Cell, family
from midepoch_conformance.families.unusual.aspects import ASPECTS, named, workload

__all__ = ["KINDS", "RESUMED", "at_cut", "unusual"]

SHAPES = ((13, 2), (12, 3))
KINDS = ("stateful_iterable", "map", "iterable", "stateful_map")
RESUMED = named(*(aspect for aspect in ASPECTS if aspect not in ("tree", "collating")))
"""All workloads but those that have a requirement of their own."""


_Build = Callable[[Cell, Workload], "Case | None"]


def unusual(
    name: str, workers: tuple[bool, ...] = (False, True), epochs: int = 2, **facts: Any
) -> Callable[[_Build], _Build]:
    """Register a family on unusual workloads, with the usual axes beside its own.

    Its builder also gets the workload, of so many epochs; a cell that has none makes no case.
    """
    usual = {"shape": SHAPES, "unusual": RESUMED, "kind": KINDS}

    def register(build: _Build) -> _Build:
        def build_on_workload(c: Cell) -> Case | None:
            w = workload(c, epochs)
            return None if w is None else build(c, w)

        family(name, workers, section="unusual", **(usual | facts))(build_on_workload)
        return build

    return register


def at_cut(c: Cell, w: Workload, epoch: int = 0) -> int:
    """Return the cell's cut as a number of batches of an epoch; 0 if the epoch has no such cut."""
    length = usual_length(w, c.execution(), epoch)
    at = {"one": 1, "half": length // 2, "last": length - 1}[c.cut]
    return at if 0 < at < length else 0
