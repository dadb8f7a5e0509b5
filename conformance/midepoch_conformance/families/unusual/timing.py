"""Unusual workloads that are interrupted in a batch, and workers that are late (pure)."""

from __future__ import annotations

import dataclasses
from typing import Any

from midepoch_conformance.case.case import Case
from midepoch_conformance.case.workload import Workload
from midepoch_conformance.families.family import LANED, Cell, family
from midepoch_conformance.families.faults.outages import INTERRUPTED
from midepoch_conformance.families.unusual.family import KINDS, unusual


@unusual(
    "work interrupted",
    bites=("an interrupt", "an interval longer than the epoch", "a snapshot of the pass before"),
    needs=("samples",),
    shape=((13, 3),),
    interval=(100,),
    sample=(6, 1, 11),
    where=("goes on", "saved"),
    unusual=("random", "stateful", "private python", "private numpy", "buffer", "on the iterator"),
)
def _interrupted(c: Cell, w: Workload) -> Case | None:
    """Interrupt a batch of data that remember what was drawn for it."""
    if c.sample != 6 and not w.sampler:
        return None  # only a sampler decides when a sample comes
    # The first of two lanes has delivered nothing, and the second has not been asked.
    first = bool(w.private) and c.kind in LANED
    made = dataclasses.replace(w, interrupt_at=2 if first else c.sample, log="auto")
    return c.play(INTERRUPTED[c.where], made, **({"lanes": c.workers or 2} if first else {}))


UNEVEN: dict[str, Any] = {"section": "unusual", "shape": ((16, 2), (13, 2)), "kind": KINDS}


@family("uneven plain", (True,), bites=("several epochs", "workers"), needs=("samples",), **UNEVEN)
def _uneven_plain(c: Cell) -> Case | None:
    return _gated(c, "[host=b] drain, drain")


@family("uneven", (True,), bites=("a full window",), needs=("samples",), **UNEVEN, position=(1, 3))
def _uneven(c: Cell) -> Case | None:
    return _gated(c, f"take {c.position}, save s | [gate=null] load s, drain, drain")


def _gated(c: Cell, sessions: str) -> Case | None:
    """Return the case whose first worker waits until the second has begun its second batch."""
    workers, (n, size) = c.workers, c.shape
    if workers < 2 or c.shuffle:
        return None
    if c.kind in ("map", "stateful_map"):
        samples = range(n)[size * (workers + 1) :]
    else:
        samples = range(n)[1::workers][size:]
    return c.play(sessions, c.workload(gate=(0, samples[0]), log="auto")) if samples else None
