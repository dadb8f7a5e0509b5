"""The unusual workloads, on which the families of this package are played (pure)."""

from __future__ import annotations

import dataclasses
from typing import Any

from midepoch_conformance.case.data.sources import GENERATORS
from midepoch_conformance.case.data.trees import TREES
from midepoch_conformance.case.uninterrupted import usual_lengths
from midepoch_conformance.case.workload import Workload
from midepoch_conformance.families.family import Cell

__all__ = ["ASPECTS", "UNUSUAL", "Unusual", "named", "workload"]

_STREAMS = ("iterable", "stateful_iterable")
_STATEFUL = ("stateful_iterable", "stateful_map")
_MAPS = ("map", "stateful_map")


@dataclasses.dataclass(frozen=True)
class Unusual:
    """An unusual workload."""

    aspect: str
    """The unusual property; one of :data:`ASPECTS`."""
    kinds: tuple[str, ...]
    """The kinds of dataset that the workload can have."""
    fields: tuple[tuple[str, Any], ...] = ()
    """The fields that make the workload unusual."""
    shuffles: bool = False
    """Whether the loader's own shuffling can be combined with it."""


def _of(aspect: str, kinds: tuple[str, ...], shuffles: bool = False, **fields: Any) -> Unusual:
    return Unusual(aspect, kinds, tuple(fields.items()), shuffles)


UNUSUAL: dict[str, Unusual] = {
    **{
        name: _of("stream", _STREAMS, stream=name)
        for name in (
            "buffer",
            "packing",
            "filter",
            "flatten",
            "uneven",
            "rising",
            "hollow",
            "looping",
        )
    },
    **{name: _of("itself", _STREAMS, stream=name) for name in ("rewinding", "oneshot")},
    "sticky": _of("sticky", ("stateful_iterable",), stream="sticky"),
    "on the iterator": _of("iterator", ("stateful_iterable",), state_at="iterator"),
    "on both": _of("iterator", ("stateful_iterable",), state_at="both"),
    "buffer on the iterator": _of(
        "iterator", ("stateful_iterable",), stream="buffer", state_at="iterator"
    ),
    "history": _of("history", ("stateful_map",), shuffles=True),
    **{name: _of("private", _STATEFUL, draws=(name,)) for name in GENERATORS},
    **{name: _of("tree", _STATEFUL, tree=name) for name in TREES if name != "plain"},
    "growing on the iterator": _of(
        "tree", ("stateful_iterable",), state_at="iterator", tree="growing"
    ),
    **{
        name: _of("sampler", _MAPS, sampler=name)
        for name in ("random", "custom", "stateful", "drawing", "permuting", "batches")
    },
    **{
        name: _of("sampler", ("map",), sampler=name)
        for name in ("replacement", "subset", "weighted")
    },
    "distributed": _of("epochs", ("map",), shuffles=True, sampler="distributed"),
    "unbatched": _of("batching", (*_MAPS, *_STREAMS), shuffles=True, batch_size=0),
    "set": _of("set", _STREAMS, stream="set"),
    "reshuffled": _of("passes", ("stateful_iterable",), stream="reshuffled", draws=("python",)),
    "fetched at once": _of("fetching", _MAPS, shuffles=True, getitems=True),
    "collated": _of("collating", (*_MAPS, *_STREAMS), shuffles=True, collated=True),
    "more samples": _of("length", ("map",), shuffles=True, grow=3),
    "less samples": _of("length", ("map",), shuffles=True, grow=-3),
}
"""All of them, by name."""

ASPECTS = tuple(dict.fromkeys(one.aspect for one in UNUSUAL.values()))
"""The aspects in which workloads are unusual."""


def named(*aspects: str) -> tuple[str, ...]:
    """Return the names of the workloads that are unusual in these aspects.

    Example:
        >>> named("itself", "epochs")
        ('rewinding', 'oneshot', 'distributed')
    """
    return tuple(name for name, one in UNUSUAL.items() if one.aspect in aspects)


def workload(c: Cell, epochs: int = 2) -> Workload | None:
    """Return a cell's unusual workload, or None for a cell that makes no sense."""
    unusual = UNUSUAL[c.unusual]
    if c.kind not in unusual.kinds or (c.shuffle and not unusual.shuffles):
        return None
    if c.unusual == "oneshot":
        epochs = 1
    if c.unusual == "unbatched" and c.tail not in (None, "keep"):
        return None  # no batch is incomplete
    made = dataclasses.replace(c.workload(epochs), **dict(unusual.fields))
    # An epoch without a batch does not show whether it was delivered.
    if made.grow and not all(usual_lengths(made, c.execution())):
        return None
    return made
