"""The adapter protocol: how the suite reaches a loader (standard library only).

An adapter translates a workload and an execution into a loader. It receives these objects and
imports nothing of the suite but, for torch's datasets, ``adapters.torch_data``. The suite judges
the batches that its sessions deliver.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any, Protocol

from midepoch_conformance.case.data.sources import GENERATORS
from midepoch_conformance.case.workload import AMBIENT_DRAWS, KINDS, Workload

__all__ = [
    "CHOICES", "EXTRAS", "STAND_IN", "Adapter", "Execution", "LoaderInfo", "MergingSession",
    "NamingSession", "Offer", "Session",
]  # fmt: skip

STAND_IN = "stand-in"
"""What is reported as the version of a package that is not there: a module that has
``STAND_IN = True`` took its place."""


@dataclasses.dataclass(frozen=True)
class Execution:
    """How a plan is executed; the batches may not depend on it."""

    workers: int = 0
    """The number of workers; 0: the loader fetches by itself."""
    lanes: int | None = None
    """The number of shares of a stream; None: the number of workers."""
    interval: int = 1
    """The steps between two snapshots of the state of the user's objects."""
    start_method: str = "fork"
    """The start method of worker processes."""
    persistent: bool = False
    """Whether workers outlive an epoch."""
    prefetch: int | None = None
    """The batches that each worker fetches ahead; None: the loader's own choice."""
    in_order: bool = True
    """Whether batches come in their order, or as they become ready."""
    rank: int = 0
    """This rank's number."""
    world: int = 1
    """The number of ranks."""
    worker_kind: str = "process"
    """``"process"`` or ``"thread"``."""
    restarts: int = 0
    """How many dead workers the loader replaces; 0: the first death is an error."""
    together: bool = False
    """Whether the session is all ranks of one process group at the same time. A batch holds what
    each of them delivers in a step, in their order; a state is the states of all of them, or what
    these make together."""


EXTRAS = {
    "streams": "datasets that make their rows otherwise than one by one in order",
    "sticky streams": "streams that begin each pass at the state that was loaded last",
    "trees": "other trees in a dataset's state than plain ones",
    "iterator state": "a state on a dataset's iterator",
    "samplers": "samplers of the user's",
    "set_epoch": "epochs that are set from outside",
    "arrays": "rows that are arrays",
    "payloads": "rows that hold containers, arrays and other objects",
    "unbatched": "samples that are delivered one by one, without batches",
    "growing": "datasets whose length changes between epochs",
    "world": "several ranks",
    "shared": "ranks that share each batch",
    "cut anew": "ranks that go on in batches of another size",
    "dealt": "ranks to which lanes are dealt",
    "restarts": "workers that are replaced when they die",
    "unordered states": "states where batches come out of order",
    "adoption": "loaders that adopt a state's seed and lanes",
    "replay checks": "checks of batches that are made again",
    "failing states": "datasets whose states cannot be taken everywhere",
    "skipping": "loaders that skip an empty rest of an epoch",
    "set up": "streams that a worker's set-up divides",
    "shuffled streams": "streams that the loader shuffles",
    "collating": "collate functions that draw",
    "failing collate": "collate functions that raise",
    "getitems": "datasets that give all samples of a batch at once",
    "set streams": "streams whose epoch the user sets",
    "beside": "other loaders in the same process",
    "asked again": "iterators that are asked for more after their end",
    "many workers": "more workers than it counts",
    "named epochs": "loaders whose caller names the next epoch",
    "process group": "ranks of a process group that run at the same time",
}
"""The words for what an adapter may carry beyond the plainest datasets (``Offer.extras``)."""

CHOICES: dict[str, tuple[str, ...]] = {
    "kinds": KINDS,
    "draws": ("own", *AMBIENT_DRAWS, *GENERATORS),
    "boundary": ("epochs", "stream", "infinite"),
    "saves": ("start", "mid", "end"),
    "codecs": ("pickle", "torch", "json", "bytes"),
    "fixed_plan": KINDS,
    "start_methods": ("fork", "spawn", "forkserver"),
    "worker_kinds": ("process", "thread"),
    "tails": ("keep", "drop", "rollover"),
    "state_scope": ("rank", "global"),
    "formats": ("midepoch",),
    "extras": (*EXTRAS,),
    "live_load": ("either", "applies", "raises", "next"),
    "broken": ("counts", "again"),
}
"""The known words of the entries of an offer that are words."""


@dataclasses.dataclass
class Offer:
    """The abilities of a loader; the suite plays no other cases (they are *not offered*).

    An adapter may return any object with these attributes, or a plain dict of them. Missing
    attributes take these defaults.
    """

    name: str = ""
    """The loader's name in reports."""
    package: str = ""
    """The distribution whose version is reported."""
    kinds: tuple[str, ...] = ("map",)
    """The kinds of workload."""
    workers: tuple[int, ...] = (0,)
    """The numbers of workers."""
    draws: tuple[str, ...] = ()
    """The random streams that a sample may draw from: ``"own"`` (the loader gives the dataset a
    stream, the ``draw`` of ``Workload.row``), ``"python"``, ``"numpy"`` and ``"torch"`` (the global
    ones), ``"private python"``, ``"private numpy"`` and ``"private torch"`` (generators that the
    dataset keeps)."""
    boundary: str = "epochs"
    """``"epochs"`` (one iterator for each epoch), ``"stream"`` (one iterator for all epochs; its
    session still yields one epoch at a time) or ``"infinite"``."""
    saves: tuple[str, ...] = ("start", "mid", "end")
    """When a state can be taken: ``"start"``, ``"mid"``, ``"end"``."""
    codecs: tuple[str, ...] = ("pickle",)
    """``"pickle"``, ``"torch"``, ``"json"``, ``"bytes"``; the first is the default."""
    fixed_plan: tuple[str, ...] = ()
    """The kinds whose plan does not depend on the worker count."""
    start_methods: tuple[str, ...] = ("fork",)
    """``"fork"``, ``"spawn"``, ``"forkserver"``."""
    worker_kinds: tuple[str, ...] = ("process",)
    """``"process"``, ``"thread"``."""
    orders: tuple[bool, ...] = (True,)
    """The offered values of ``Execution.in_order``."""
    tails: tuple[str, ...] = ("keep",)
    """``"keep"``, ``"drop"``, ``"rollover"`` (only with random access)."""
    shuffles: tuple[bool, ...] = (False, True)
    """Whether shuffling is offered: ``(False,)``, ``(True,)`` or both."""
    intervals: tuple[int, ...] | None = None
    """The snapshot intervals; ``None``: the loader has no such setting."""
    persistent: tuple[bool, ...] = (False,)
    """The offered values of ``Execution.persistent``."""
    state_scope: str = "rank"
    """``"rank"`` or ``"global"``."""
    fork_safe: bool = True
    """Whether a process that has imported the loader may be forked."""
    exclusive: bool = False
    """Whether one case at a time is played, because loaders of two cases would disturb each other:
    by a port or a file whose name is fixed. Each play has its own temporary folder anyway."""
    formats: tuple[str, ...] = ()
    """``("midepoch",)`` for implementers of midepoch's own state format."""
    extras: tuple[str, ...] = ()
    """The adapter's datasets beyond the plainest ones: ``"streams"`` (other values of
    ``Workload.stream``), ``"sticky streams"`` (which begin each pass at the state that was loaded
    last), ``"trees"`` (of the state), ``"iterator state"``, ``"samplers"`` (the user's, or
    torch's), ``"set_epoch"`` (epochs set from outside, where ``Workload.sets_epoch``),
    ``"growing"``, ``"arrays"`` (rows that are arrays; the loader makes one array or tensor of a
    batch), ``"unbatched"`` (``batch_size`` is 0: a batch is one sample's row), ``"set up"`` (a
    worker's set-up divides the dataset: ``stream="divided"``), ``"shuffled streams"`` (which the
    loader shuffles), ``"world"`` (several ranks), ``"shared"`` (ranks that share each batch:
    ``Workload.ranks``), ``"cut anew"`` (which go on in batches of another size where the user
    allows it), ``"dealt"`` (ranks to which lanes are dealt, whose states a session's ``merge``
    makes one), ``"restarts"`` (dead workers are replaced), ``"unordered states"`` (states that are
    saved and loaded while batches come out of order), ``"adoption"`` (a loader that is given no
    seed and no lanes), ``"replay checks"`` (of the batches that a resume makes again), ``"failing
    states"`` (a dataset that cannot tell its state everywhere: ``Workload.unsaved``),
    ``"skipping"`` (an empty rest of an epoch is skipped: ``Workload.skips``), ``"named epochs"``
    (the caller names the epoch that comes next: a session's ``name_epoch``) and ``"process group"``
    (ranks that run at the same time: ``Execution.together``)."""
    live_load: str = "either"
    """The effect of a load into a live iterator: ``"applies"``, ``"raises"``, ``"either"``;
    ``"next"`` if the loader documents that a load applies to the next iterator only."""
    broken: str = "counts"
    """The place of an epoch that is broken off: it ``"counts"``, or comes ``"again"`` from its
    beginning if the loader documents so."""
    reasons: dict[str, str] = dataclasses.field(default_factory=dict)
    """The reasons for missing offers: ``{what: why}``."""


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
    digest: str = ""
    """The SHA-256 of that file when it was imported: a run is continued on the same file only."""
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
        """Close the loader by its documented means, or drop it if there are none."""


class MergingSession(Session, Protocol):
    """A session of an adapter that offers ranks to which lanes are dealt (``"dealt"``)."""

    def merge(self, states: list[Any]) -> object:
        """Return the one state that those of all ranks make, given in any order (RANK-14)."""


class NamingSession(Session, Protocol):
    """A session of an adapter whose loader lets its caller name epochs (``"named epochs"``)."""

    def name_epoch(self, epoch: int) -> None:
        """Tell the loader that ``epoch`` comes next, from 0."""


class Adapter(Protocol):
    """Reaches one kind of loader."""

    def offer(self) -> Offer | dict[str, Any]:
        """Return what the loader offers."""

    def declines(self, w: Workload, x: Execution) -> str | None:
        """Return why this cell is not offered, or None if it is offered."""

    def prepare(self, w: Workload, root: str) -> None:
        """Write what the workload needs on disk under ``root``; called once for each workload."""

    def open(self, w: Workload, x: Execution, root: str) -> Session:
        """Build the loader."""
