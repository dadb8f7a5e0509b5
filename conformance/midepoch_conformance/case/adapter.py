"""The adapter protocol: how the suite reaches a loader (standard library only).

An adapter translates a workload and an execution into a loader. It imports nothing of the
suite: it receives these objects and is judged by what its sessions deliver.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any, Protocol

from midepoch_conformance.case.workload import Workload

__all__ = ["Adapter", "Execution", "LoaderInfo", "Offer", "Session"]


@dataclasses.dataclass(frozen=True)
class Execution:
    """How a plan is executed; nothing here may show in what is delivered.

    Attributes:
        workers: their number; 0: the loader fetches by itself.
        lanes: into how many shares a stream is dealt, where that is not the number of workers.
        interval: steps between two snapshots of what the user's objects hold.
        start_method: how a worker that is a process is started.
        persistent: whether workers outlive an epoch.
        prefetch: batches that each worker fetches ahead; None: as many as the loader likes.
        in_order: whether batches come in their order; else as they become ready.
        rank: this rank, where there are several.
        world: the number of ranks.
        worker_kind: ``"process"`` or ``"thread"``.
        restarts: how many dead workers are replaced; 0: the first death is an error.
    """

    workers: int = 0
    lanes: int | None = None
    interval: int = 1
    start_method: str = "fork"
    persistent: bool = False
    prefetch: int | None = None
    in_order: bool = True
    rank: int = 0
    world: int = 1
    worker_kind: str = "process"
    restarts: int = 0


@dataclasses.dataclass
class Offer:
    """What a loader can do at all; the rest of the suite is *not offered*.

    An adapter may return any object with these attributes, or a plain dict of them: it
    imports nothing of the suite. Missing ones take these defaults.

    Attributes:
        name: the loader's name in reports.
        package: the distribution whose version is reported.
        kinds: workload kinds.
        workers: worker counts.
        draws: random streams that a sample may draw from.
        boundary: ``"epochs"`` (an iterator an epoch), ``"stream"`` (all epochs in one
            iterator; its session still yields one epoch at a time) or ``"infinite"``.
        saves: when a state can be taken: ``"start"``, ``"mid"``, ``"end"``.
        codecs: ``"pickle"``, ``"torch"``, ``"json"``, ``"bytes"``; the first is the default.
        fixed_plan: the kinds whose plan does not depend on the worker count.
        start_methods: ``"fork"``, ``"spawn"``, ``"forkserver"``.
        worker_kinds: ``"process"``, ``"thread"``.
        orders: values of ``Execution.in_order`` that are offered.
        tails: ``"keep"``, ``"drop"``, ``"rollover"`` (of random access alone).
        shuffles: whether shuffling is offered: ``(False,)``, ``(True,)`` or both.
        intervals: snapshot intervals, or ``None`` where the loader has none to set.
        persistent: values of ``Execution.persistent`` that are offered.
        state_scope: ``"rank"`` or ``"global"``.
        fork_safe: whether a process that has imported the loader may be forked.
        formats: ``("midepoch",)`` for implementers of midepoch's own state format.
        extras: what the adapter carries beyond the plainest datasets: ``"streams"`` (other
            values of ``Workload.stream``), ``"trees"`` (of the state), ``"iterator state"``,
            ``"samplers"`` (the user's, or torch's), ``"set_epoch"`` (epochs set from outside:
            ``sampler="distributed"``), ``"growing"``, ``"arrays"`` (rows that are arrays, of
            which the loader makes one array or tensor a batch), ``"world"`` (several ranks),
            ``"restarts"`` (dead workers are replaced) and ``"unordered states"`` (states taken
            and loaded where batches come out of order).
        live_load: what a load into a live iterator does: ``"applies"``, ``"raises"`` or
            ``"either"``; only for the words of the report.
        reasons: ``{what: why}`` for what is not offered.
    """

    name: str = ""
    package: str = ""
    kinds: tuple[str, ...] = ("map",)
    workers: tuple[int, ...] = (0,)
    draws: tuple[str, ...] = ()
    boundary: str = "epochs"
    saves: tuple[str, ...] = ("start", "mid", "end")
    codecs: tuple[str, ...] = ("pickle",)
    fixed_plan: tuple[str, ...] = ()
    start_methods: tuple[str, ...] = ("fork",)
    worker_kinds: tuple[str, ...] = ("process",)
    orders: tuple[bool, ...] = (True,)
    tails: tuple[str, ...] = ("keep",)
    shuffles: tuple[bool, ...] = (False, True)
    intervals: tuple[int, ...] | None = None
    persistent: tuple[bool, ...] = (False,)
    state_scope: str = "rank"
    fork_safe: bool = True
    formats: tuple[str, ...] = ()
    extras: tuple[str, ...] = ()
    live_load: str = "either"
    reasons: dict[str, str] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class LoaderInfo:
    """A loader as the interpreter that has it describes it."""

    name: str
    """The loader's name in reports."""
    version: str
    """The version of its distribution; empty if there is none."""
    python: str
    """The version of the interpreter."""
    platform: str
    """The operating system."""
    packages: dict[str, str]
    """The versions of the packages that were loaded with it."""
    offer: Offer
    """Everything that the loader can do."""
    file: str = ""
    """The file that holds the adapter, or the ``make_loader`` function."""
    module: str = ""
    """The name of the module in that file."""
    attribute: str = ""
    """The adapter's name in that module."""
    function: bool = False
    """Whether it is a plain ``make_loader`` function."""


class Session(Protocol):
    """One life of a loader: built, perhaps loaded, iterated, saved, closed."""

    def epoch(self) -> Iterator[list[list[float]]]:
        """Start the next epoch (or the resumed one's rest) and return its batches of rows."""

    def state(self) -> object:
        """Return the loader's state, with what its documentation tells users to keep beside it."""

    def load(self, state: Any) -> None:
        """Load a state into the loader."""

    def close(self) -> None:
        """Close the loader by its documented means, or drop it where it has none."""


class Adapter(Protocol):
    """Reaches one kind of loader."""

    def offer(self) -> Offer | dict[str, Any]:
        """Return what the loader offers."""

    def declines(self, w: Workload, x: Execution) -> str | None:
        """Return why this cell is not offered, or None where it is."""

    def prepare(self, w: Workload, root: str) -> None:
        """Write what the workload needs on disk under ``root``; called once a workload."""

    def open(self, w: Workload, x: Execution, root: str) -> Session:
        """Build the loader."""
