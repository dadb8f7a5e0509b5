"""The states of torchdata's ``StatefulDataLoader`` (0.8 to 0.11), read into one form.

A loader with workers writes another layout than one without. Pure: nothing here knows torch,
a sampler or a plan. Users' parts are carried through, and never looked into.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from midepoch.errors import ForeignStateError, StateFormatError
from midepoch.format import checks
from midepoch.format.consistency import COUNT_MAX, LANES_MAX

__all__ = ["Saved", "WorkerPart", "is_torchdata", "parse", "share"]

_MARKS = frozenset({"_snapshot", "_steps_since_snapshot", "_num_yielded", "_sampler_iter_yielded"})
"""Every state has at least one of these keys, in either layout."""


@dataclass(frozen=True, eq=False)
class WorkerPart:
    """The part of one worker, or of a loader without workers."""

    dataset: Any
    iterator: Any
    ended: bool

    @property
    def stated(self) -> tuple[str, ...]:
        """The lane's slots that hold a state: torchdata's ``None`` says that there is none."""
        slots = {"dataset": self.dataset, "iterator": self.iterator}
        return tuple(name for name, value in slots.items() if value is not None)


@dataclass(frozen=True, eq=False)
class Saved:
    """A torchdata state, in one form for both layouts."""

    workers: int
    """0: the layout of a loader without workers."""
    iterable: bool
    drawn: int
    """Batches drawn from the sampler at the snapshot."""
    yielded: int
    """Batches delivered at the snapshot."""
    since: int
    """Batches delivered since the snapshot."""
    finished: bool
    """The end of the epoch was seen."""
    last: int
    """The worker of the last batch before the snapshot."""
    outer: Any
    """The state of the object that gives the indices; ``None``: it has none."""
    inner: Any
    """The state of its iterator; ``None``: it has none."""
    parts: tuple[WorkerPart, ...]
    base_seed: int | None
    """The iterator's draw from the loader's generator; only loaders with workers save it."""
    path: str
    """The path of the sampler's keys."""

    @property
    def delivered(self) -> int:
        """Batches delivered in the epoch."""
        return self.yielded + self.since


def is_torchdata(state: object) -> bool:
    """Tell whether ``state`` has the keys of torchdata's, and not the mark of this format.

    >>> is_torchdata({"_snapshot": {}, "_steps_since_snapshot": 0}), is_torchdata({})
    (True, False)
    """
    if type(state) is not dict:
        return False
    names = {key for key in state if type(key) is str}  # a foreign key's own __eq__ must not run
    return "format" not in names and bool(names & _MARKS)


def share(total: int, workers: int, worker: int) -> int:
    """Return how many of ``total`` batches go to ``worker``, in turn with the others.

    >>> [share(5, 3, worker) for worker in range(3)]
    [2, 2, 1]
    """
    return max(0, -((worker - total) // workers))


def parse(state: dict[str, Any]) -> Saved:
    """Read a state for which ``is_torchdata`` holds.

    Raises:
        StateFormatError: a key is missing, unknown or of another type, or two do not fit.
        ForeignStateError: it is the state of a data pipe.
    """
    names = {key for key in state if type(key) is str}
    return _parse_workers(state) if "_snapshot" in names else _parse_single(state)


_count = checks.integer(0, COUNT_MAX)
_draw = checks.integer(-(2**63), 2**63 - 1)
_FETCHER = checks.nullable(
    checks.record({"dataset_iter_state": checks.anything, "fetcher_ended": checks.boolean})
)

_SAMPLER = {
    "_index_sampler_state": checks.anything,
    "_sampler_iter_state": checks.anything,
    "_sampler_iter_yielded": _count,
    "_IterableDataset_len_called": checks.nullable(_draw),
    "_shared_seed": checks.nullable(_draw),
}

_SINGLE = checks.record(
    {
        **_SAMPLER,
        "_num_yielded": _count,
        "fetcher_state": _FETCHER,
        "dataset_state": checks.anything,
        "_iterator_finished": checks.boolean,
    }
)

_MAIN = checks.record(
    {**_SAMPLER, "_num_workers": checks.integer(1, LANES_MAX), "_base_seed": _draw}
)

_WORKER = checks.record(
    {"worker_id": _count, "fetcher_state": _FETCHER, "dataset_state": checks.anything}
)

_SNAPSHOT = checks.record(
    {
        "_snapshot_step": _count,
        "_last_yielded_worker_id": _count,
        "_main_snapshot": _MAIN,
        "_worker_snapshots": checks.anything,
    }
)

_WORKERS = checks.record(
    {"_snapshot": _SNAPSHOT, "_steps_since_snapshot": _count, "_iterator_finished": checks.boolean}
)


def _parse_single(state: dict[str, Any]) -> Saved:
    fields = _SINGLE(state, "$")
    _refuse_pipe(fields, "$")
    return Saved(
        workers=0,
        iterable=fields["fetcher_state"] is not None,
        drawn=fields["_sampler_iter_yielded"],
        yielded=fields["_num_yielded"],
        since=0,
        finished=fields["_iterator_finished"],
        last=0,
        outer=fields["_index_sampler_state"],
        inner=fields["_sampler_iter_state"],
        parts=(_part(fields),),
        base_seed=None,
        path="$",
    )


def _parse_workers(state: dict[str, Any]) -> Saved:
    fields = _WORKERS(state, "$")
    snapshot = fields["_snapshot"]
    main = snapshot["_main_snapshot"]
    _refuse_pipe(main, "$._snapshot._main_snapshot")
    count = main["_num_workers"]
    workers = _each_worker(snapshot["_worker_snapshots"], count)
    iterable = workers[0]["fetcher_state"] is not None
    if any((worker["fetcher_state"] is not None) != iterable for worker in workers):
        raise StateFormatError(
            "some workers are of an iterable dataset, others are not",
            "$._snapshot._worker_snapshots",
        )
    last = snapshot["_last_yielded_worker_id"]
    if last >= count:
        raise StateFormatError(
            f"expected less than {count} (the workers), got {last}",
            "$._snapshot._last_yielded_worker_id",
        )
    return Saved(
        workers=count,
        iterable=iterable,
        drawn=main["_sampler_iter_yielded"],
        yielded=snapshot["_snapshot_step"],
        since=fields["_steps_since_snapshot"],
        finished=fields["_iterator_finished"],
        last=last,
        outer=main["_index_sampler_state"],
        inner=main["_sampler_iter_state"],
        parts=tuple(_part(worker) for worker in workers),
        base_seed=main["_base_seed"],
        path="$._snapshot._main_snapshot",
    )


def _each_worker(value: object, count: int) -> list[dict[str, Any]]:
    path = "$._snapshot._worker_snapshots"
    if type(value) is dict and len(value) != count:
        raise StateFormatError(f"expected {count} workers, got {len(value)}", path)
    names = [f"worker_{number}" for number in range(count)]
    parts: dict[str, Any] = checks.record(dict.fromkeys(names, _WORKER))(value, path)
    for number, name in enumerate(names):
        if parts[name]["worker_id"] != number:
            raise StateFormatError(
                f"expected {number}, got {parts[name]['worker_id']}", f"{path}.{name}.worker_id"
            )
    return list(parts.values())


def _part(fields: dict[str, Any]) -> WorkerPart:
    fetcher = fields["fetcher_state"]
    if fetcher is None:
        return WorkerPart(fields["dataset_state"], None, False)
    return WorkerPart(
        fields["dataset_state"], fetcher["dataset_iter_state"], fetcher["fetcher_ended"]
    )


def _refuse_pipe(fields: dict[str, Any], path: str) -> None:
    if fields["_shared_seed"] is not None:
        raise ForeignStateError(
            "it is of a data pipe, whose seeds are derived in another way here",
            f"{path}._shared_seed",
        )
