"""A family of cases: how a probe is made into cases, and the table of all probes (pure)."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from midepoch_conformance.case.case import Case
from midepoch_conformance.families.axes import Cell

__all__ = ["PROBES", "Builder", "Probe", "probe"]

Builder = Callable[[Cell], "Case | None"]
"""Makes the case of a cell, or None where the cell makes no sense."""


@dataclasses.dataclass(frozen=True)
class Probe:
    """A family of cases.

    Attributes:
        name: the name that judges know it by.
        build: makes the case of a cell.
        axes: its axes, beside those of all probes or in place of them.
        workers: whether it is played without workers, with them, or both.
    """

    name: str
    build: Builder
    axes: Mapping[str, tuple[Any, ...]]
    workers: tuple[bool, ...] = (False, True)


PROBES: dict[str, Probe] = {}
"""All probes by name; filled by the modules that import this one."""


def probe(
    name: str, workers: tuple[bool, ...] = (False, True), **axes: tuple[Any, ...]
) -> Callable[[Builder], Builder]:
    """Register the decorated builder as a family.

    Raises:
        ValueError: there is one of that name.
    """

    def register(build: Builder) -> Builder:
        if name in PROBES:
            raise ValueError(f"two probes are named {name!r}")
        PROBES[name] = Probe(name, build, axes, workers)
        return build

    return register
