"""The unusual workloads that the families of ``probes_workloads.py`` are played on (pure)."""

from __future__ import annotations

import dataclasses
from typing import Any

from midepoch_conformance.case.sources import GENERATORS
from midepoch_conformance.case.trees import TREES
from midepoch_conformance.case.uninterrupted import usual_lengths
from midepoch_conformance.case.workload import Workload
from midepoch_conformance.families.axes import Cell

__all__ = ["SORTS", "WORKS", "Work", "named", "workload"]

_STREAMS = ("iterable", "stateful_iterable")
_STATEFUL = ("stateful_iterable", "stateful_map")
_MAPS = ("map", "stateful_map")


@dataclasses.dataclass(frozen=True)
class Work:
    """An unusual workload.

    Attributes:
        sort: what about it is unusual, one of :data:`SORTS`.
        kinds: the kinds of dataset that it can be of.
        fields: the fields of the workload that make it so.
        shuffles: whether the loader's own shuffling goes with it.
    """

    sort: str
    kinds: tuple[str, ...]
    fields: tuple[tuple[str, Any], ...] = ()
    shuffles: bool = False


def _work(sort: str, kinds: tuple[str, ...], shuffles: bool = False, **fields: Any) -> Work:
    return Work(sort, kinds, tuple(fields.items()), shuffles)


WORKS: dict[str, Work] = {
    **{
        name: _work("stream", _STREAMS, stream=name)
        for name in ("buffer", "packing", "filter", "flatten", "uneven", "hollow")
    },
    **{name: _work("itself", _STREAMS, stream=name) for name in ("rewinding", "oneshot")},
    "on the iterator": _work("iterator", ("stateful_iterable",), state_at="iterator"),
    "on both": _work("iterator", ("stateful_iterable",), state_at="both"),
    "buffer on the iterator": _work(
        "iterator", ("stateful_iterable",), stream="buffer", state_at="iterator"
    ),
    "history": _work("history", ("stateful_map",), shuffles=True),
    **{name: _work("private", _STATEFUL, draws=(name,)) for name in GENERATORS},
    **{name: _work("tree", _STATEFUL, tree=name) for name in TREES if name != "plain"},
    "growing on the iterator": _work(
        "tree", ("stateful_iterable",), state_at="iterator", tree="growing"
    ),
    **{
        name: _work("sampler", _MAPS, sampler=name)
        for name in ("random", "custom", "stateful", "batches")
    },
    **{
        name: _work("sampler", ("map",), sampler=name)
        for name in ("replacement", "subset", "weighted")
    },
    "distributed": _work("epochs", ("map",), shuffles=True, sampler="distributed"),
    "more samples": _work("length", ("map",), shuffles=True, grow=3),
    "less samples": _work("length", ("map",), shuffles=True, grow=-3),
}
"""All of them, by name."""

SORTS = tuple(dict.fromkeys(work.sort for work in WORKS.values()))
"""What is unusual about workloads."""


def named(*sorts: str) -> tuple[str, ...]:
    """Return the names of the works of these sorts.

    Example:
        >>> named("itself", "epochs")
        ('rewinding', 'oneshot', 'distributed')
    """
    return tuple(name for name, work in WORKS.items() if work.sort in sorts)


def workload(c: Cell, epochs: int = 2, **more: Any) -> Workload | None:
    """Return the workload of a cell's ``work``; None where the cell makes no sense."""
    work = WORKS[c.work]
    if c.kind not in work.kinds or (c.shuffle and not work.shuffles):
        return None
    if c.work == "oneshot":
        epochs = 1
    fields = dict(work.fields)
    if "draws" in more:
        more["draws"] = (*more["draws"], *fields.pop("draws", ()))
    made = c.workload(epochs, **fields, **more)
    # Of an epoch without a batch nobody can tell whether it was delivered.
    if made.grow and not all(usual_lengths(made, c.execution())):
        return None
    return made
