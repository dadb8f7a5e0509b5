"""Draws the workloads and executions of histories, from all that an offer covers."""

from __future__ import annotations

import dataclasses
from typing import Any

from hypothesis import strategies as st

from midepoch_conformance.case import trees
from midepoch_conformance.case.adapter import Execution, Offer
from midepoch_conformance.case.case import HISTORY, Case, SessionPlan
from midepoch_conformance.case.history import MOST_EPOCHS
from midepoch_conformance.case.sources import GENERATORS, SAMPLERS, SOURCES
from midepoch_conformance.case.workload import Workload
from midepoch_conformance.families.offered import reason_not_offered

__all__ = ["executions", "laned", "normal", "workloads"]

_SHAPES = (
    (5, 1), (7, 1), (7, 2), (9, 2), (13, 4), (12, 3), (11, 2), (16, 4), (8, 3), (16, 2), (4, 4),
    (1, 1), (0, 2),
)  # fmt: skip
_MAPS = ("map", "files", "stateful_map")
_SAMPLERS = ("random", "replacement", "subset", "weighted")
_OF_WORKERS = ("prefetch", "persistent", "start_method", "worker_kind")


@st.composite
def workloads(draw: st.DrawFn, offer: Offer) -> Workload:
    """Draw a workload, with at most one unusual property."""
    kind = draw(st.sampled_from(offer.kinds))
    n, batch_size = draw(st.sampled_from(_SHAPES))
    tail = draw(st.sampled_from([t for t in offer.tails if t != "rollover"] or ["keep"]))
    plain: dict[str, Any] = {"kind": kind, "n": n, "batch_size": batch_size}
    special = [{}] if draw(st.booleans()) or not n else _specialities(kind, n, offer)
    more = dict(draw(st.sampled_from(special)))
    if more.get("fail_at") or more.get("sampler") == "batches":
        tail = "keep"
    if more.get("fail_at"):
        more["fail_at"] = draw(st.integers(0, n - 1))
    elif "rollover" in offer.tails and kind in _MAPS and more.get("sampler") != "batches":
        # Seldom: loaders are free in what they do with left-over samples after a break.
        tail = "rollover" if draw(st.integers(0, 9)) == 9 else tail
    # Streams have no order of the loader's own, nor do datasets with a user's sampler.
    ordered = kind not in _MAPS or not n or bool(more.get("sampler"))
    # If all epochs were equal, one in the place of another would not show.
    shuffle = False if ordered else draw(st.sampled_from((*offer.shuffles, max(offer.shuffles))))
    if "draws" not in more:
        known = [d for d in offer.draws if d not in GENERATORS]
        more["draws"] = draw(st.sampled_from((*((),) * (1 + len(known)), *((d,) for d in known))))
    seeded = draw(st.integers(0, 3)) if shuffle or more.get("sampler") else 0
    plain |= {"tail": tail, "shuffle": shuffle, "seed": seeded, "epochs": MOST_EPOCHS}
    return Workload(**plain, **more)


def _specialities(kind: str, n: int, offer: Offer) -> list[dict[str, Any]]:
    """Return changes of a workload, each of which makes it unusual."""
    found: list[dict[str, Any]] = []
    stateful = kind.startswith("stateful")
    if kind == "map" and n > 1:
        found.append({"fail_at": 1})
    if kind in ("map", "stateful_map"):
        found += [{"sampler": name} for name in (*_SAMPLERS, *SAMPLERS)]
        found += [{"sampler": "distributed"}, {"grow": 2}]
    if kind in ("iterable", "stateful_iterable"):
        found += [{"stream": name} for name in SOURCES if name not in ("plain", "oneshot")]
    if kind == "stateful_iterable":
        found += [{"state_at": "iterator"}, {"state_at": "both"}]
    if stateful:
        found += [{"tree": name} for name in trees.TREES]
        found += [{"draws": (draw,)} for draw in offer.draws if draw in GENERATORS]
    # An adapter may carry only some of these.
    bare = SessionPlan(Execution(), ())
    cases = [Case(HISTORY, Workload(kind=kind, n=n, **change), (bare,)) for change in found]
    reasons = [reason_not_offered(case, offer) for case in cases]
    carried = [change for change, why in zip(found, reasons, strict=True) if why is None]
    return carried or [{}]


@st.composite
def executions(draw: st.DrawFn, offer: Offer, multi: bool, base: Execution | None) -> Execution:
    """Draw an execution, with ``base`` a changed one under the same plan."""
    counts = sorted(n for n in offer.workers if multi or n == 0) or list(offer.workers)
    if multi and base is None:
        counts = [n for n in counts if n] or counts
    changes: dict[str, Any] = {"workers": draw(st.sampled_from(counts))}
    if offer.intervals:
        changes["interval"] = draw(st.sampled_from(sorted(offer.intervals)))
    if changes["workers"]:
        changes["prefetch"] = draw(st.sampled_from((None, 2, 4)))
        changes["persistent"] = draw(st.sampled_from(sorted(offer.persistent)))
        # Other start methods than the first take seconds, and differ in nothing else.
        methods = offer.start_methods
        often = (methods[0],) * (1 if changes["workers"] > 2 else 30)
        others = methods[1:] if changes["workers"] <= 2 else ()
        changes["start_method"] = draw(st.sampled_from((*often, *others)))
        if len(offer.worker_kinds) > 1:
            changes["worker_kind"] = draw(st.sampled_from(offer.worker_kinds))
    return normal(dataclasses.replace(base or Execution(), **changes))


def laned(x: Execution, w: Workload, offer: Offer, data: st.DataObject) -> Execution:
    """Return the first execution with the lanes that fix a stream's plan."""
    if w.kind in ("map", "files"):  # one order with any worker count
        return x
    if w.kind not in offer.fixed_plan:
        return dataclasses.replace(x, lanes=x.workers or None)
    lanes = data.draw(st.sampled_from((x.workers or None, *range(1, 4))), "lanes")
    return dataclasses.replace(x, lanes=lanes or (x.workers or None))


def normal(x: Execution) -> Execution:
    """Return an execution; without workers, their settings are at their defaults."""
    if x.workers:
        return x
    plain = Execution()
    changes = {name: getattr(plain, name) for name in _OF_WORKERS}
    return dataclasses.replace(x, **changes)
