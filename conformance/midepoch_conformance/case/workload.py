"""The workload: what a loader under test is asked to deliver (standard library only).

This is the plan alone. ``rows.py`` computes the samples' rows, and ``sources.py`` makes those of
streams and of datasets with a state. Adapters receive a :class:`Workload` and never import this
module.
"""

from __future__ import annotations

import dataclasses

from midepoch_conformance.case.data import published, samplers, sources, trees
from midepoch_conformance.case.data.rows import Rows, WorkloadError

__all__ = ["AMBIENT_DRAWS", "KINDS", "WIDE", "Workload", "WorkloadError"]

KINDS = ("map", "iterable", "stateful_iterable", "stateful_map")
"""The kinds of dataset, in this order:

- random access;
- a plain stream;
- a stream with ``state_dict`` and ``load_state_dict``;
- random access with the two methods; its rows show its history.
"""

AMBIENT_DRAWS = ("python", "numpy", "torch")

WIDE = 32
"""The most numbers of a row that a trace keeps in full; of a longer row, each number once."""

_CHOICES: dict[str, tuple[str, ...]] = {
    "stream": (*sources.SOURCES, *published.STREAMS),
    "state_at": ("dataset", "iterator", "both"),
    "fails_in": ("dataset", "collate_fn", "sampler"),
    "tree": ("", *trees.MAKERS),
    "payload": ("", *trees.MAKERS),
    "ranks": ("", "shared", "cut anew", "dealt"),
    "sampler": ("", "random", "replacement", "subset", "weighted", "distributed",
                *samplers.SAMPLERS, *published.ORDERS),
}  # fmt: skip


@dataclasses.dataclass
class Workload(Rows):
    """One logical data set with its plan; picklable under fork and spawn."""

    kind: str = "map"
    """One of :data:`KINDS`."""

    n: int = 13
    """Number of samples in an epoch."""

    batch_size: int = 4
    """Samples a batch; 0: without automatic batching, each batch is one sample's row."""

    epochs: int = 2
    """Epochs that an uninterrupted run iterates."""

    shuffle: bool = False
    """Whether the loader's own shuffling is asked for."""

    seed: int = 0
    """The seed that the adapter hands to the loader by its documented means."""

    tail: str = "keep"
    """``"keep"`` or ``"drop"`` the incomplete last batch, or ``"rollover"``: its samples open
    the next epoch."""

    draws: tuple[str, ...] = ()
    """Random streams that each sample draws one number from: ``"python"``, ``"numpy"``,
    ``"torch"`` (the global streams; ``"torch double"`` in double precision), ``"own"`` (the
    loader's documented source, which the adapter passes on) or, for datasets with a state,
    ``"private python"`` ... (a generator of the dataset's own, in its state)."""

    mixed: bool = False
    """Whether each sample also draws a normal number and 32 bits from each of these streams, added
    up."""

    tree: str = ""
    """The tree that a Stateful dataset adds to its state, one of :data:`trees.MAKERS`."""

    fail_at: int | None = None
    """The sample that raises :class:`WorkloadError`; -1: the dataset itself does, when a lane is
    set up. See ``fails_in``."""

    fails_also: tuple[int, ...] = ()
    """Further samples that raise as ``fail_at`` does."""

    stop_at: int | None = None
    """The sample that raises ``StopIteration``."""

    die_at: int | None = None
    """The sample that kills the process computing it with SIGKILL."""

    interrupt_at: int | None = None
    """The sample while which is made Ctrl-C reaches the loader's process, once; needs a log."""

    log: str | None = None
    """A file to which fetches and calls are appended."""

    stream: str = "plain"
    """How a lane of an iterable makes its rows, one of :data:`sources.SOURCES`."""

    state_at: str = "dataset"
    """The keeper of a Stateful iterable's state: ``"dataset"``, ``"iterator"`` or ``"both"``."""

    sampler: str = ""
    """The user's sampler of a map-style dataset: torch's ``"random"``, ``"replacement"``,
    ``"subset"`` or ``"weighted"`` with a generator of their own, ``"distributed"`` with its
    epoch set from outside, or a class of the user's: ``"custom"``, ``"stateful"``,
    ``"batches"``, ``"prepared"`` with its epoch set from outside, and others of
    :data:`samplers.SAMPLERS`."""

    grow: int = 0
    """The samples that each epoch adds to the one before; the user sets the new length."""

    gate: tuple[int, int] | None = None
    """``(a, b)``: sample a waits until another worker has fetched sample b; needs a log."""

    slow: tuple[int, ...] = ()
    """The samples that take a while, so other workers overtake them."""

    die_once: bool = False
    """Whether ``die_at`` kills the process only the first time; needs a log."""

    exits_at: tuple[int, ...] = ()
    """The samples at which the worker computing them exits, a process or a thread, at each of them
    once; needs a log."""

    fail_once: bool = False
    """Whether ``fail_at`` raises only the first time; needs a log."""

    unsaved: int = 0
    """Every so many rows, the dataset cannot tell its state: its ``state_dict`` raises; 0: never.
    The first such place is row ``unsaved`` - 1."""

    width: int = 1
    """How often a row repeats its id at its start.

    If it is more than 1, the row is a NumPy array of integers. The adapter then has its loader
    collate a batch's rows to one array or tensor, as it would collate a user's samples.
    """

    payload: str = ""
    """The tree that each row ends with, one of `trees.MAKERS`; a trace has its fingerprint."""

    data: str = ""
    """The text that identifies the data, for loaders that record it in their states."""

    ranks: str = ""
    """How several ranks get their samples: by a sampler of the user's, or ``"shared"``: they share
    each batch, and ``batch_size`` is that of all of them together. ``"cut anew"``: the user also
    allows them to go on in batches of another size. ``"dealt"``: the lanes of an iterable dataset,
    or of a map-style one with a state, are dealt to them."""

    adopts: bool = False
    """Whether the loader is given no seed and adopts the one of the state that it loads, which is
    ``seed`` or what another loader drew; and, where ``Execution.lanes`` is None, that state's lanes
    too."""

    checked: bool = False
    """Whether the loader is given a check by which it knows a batch's samples again when it makes
    them again after a load: ``list``, which returns the samples themselves."""

    skips: bool = False
    """Whether the user asks the loader to skip an empty rest of an epoch after a load."""

    collated: bool = False
    """Whether the user's ``collate_fn`` draws as well: each row then ends with one more number of
    each stream in ``draws`` that is not the dataset's own."""

    getitems: bool = False
    """Whether a dataset with random access gives all samples of a batch at once
    (``__getitems__``)."""

    unreadable: bool = False
    """Whether the exception of ``fail_at`` cannot be unpickled."""

    falsy: bool = False
    """Whether the first samples are false values, such as None: ``collate`` makes rows of them."""

    fails_in: str = "dataset"
    """The user's code that raises for the sample ``fail_at``, or is interrupted: ``"dataset"``,
    ``"collate_fn"``, which the adapter then takes from :meth:`collate`, or ``"sampler"``, which is
    interrupted before the index of the place ``interrupt_at``."""

    ends: bool = False
    """Whether the ``collate_fn`` raises StopIteration, and not an error, for ``fail_at``."""

    dies_again: bool = False
    """Whether the worker that replaces the one that ``die_at`` killed dies once more, while its
    dataset's state is loaded; needs a log."""

    def __post_init__(self) -> None:
        # JSON has no tuples. Stored cases of older versions hold a boolean as their tree, which the
        # field's type does not allow.
        self.draws, self.exits_at = tuple(self.draws), tuple(self.exits_at)
        self.fails_also, self.slow = tuple(self.fails_also), tuple(self.slow)
        self.gate = None if self.gate is None else (self.gate[0], self.gate[1])
        self.tree = {True: "plain", False: ""}.get(self.tree, self.tree)  # type: ignore[call-overload]
        for name, known in _CHOICES.items():
            if getattr(self, name) not in known:
                raise ValueError(f"{name} is one of {known}, got {getattr(self, name)!r}")

    # A dataset

    @property
    def form(self) -> str:
        """The dataset's form, which tells what class an adapter makes of it.

        ``"map"``, ``"iterable"`` and ``"stateful_iterable"`` are the plain ones,
        whose rows are those of their ids in order; so is ``"map of batches"``, which has
        ``__getitems__``. The others have a :meth:`source`: ``"stateful_map of batches"``,
        ``"stateful_map"``, ``"stream"``, ``"stateful stream"``; ``"own iterator"`` and
        ``"stateful own iterator"``, where ``iter(dataset) is dataset``; ``"iterator state"`` and
        ``"both states"``, by where a Stateful iterable keeps its state.
        """
        if self.kind not in ("iterable", "stateful_iterable"):
            return f"{self.kind} of batches" if self.getitems else self.kind
        stateful = "stateful " if self.kind == "stateful_iterable" else ""
        if issubclass(sources.SOURCES.get(self.stream, object), sources.OneShot):
            return f"{stateful}own iterator"
        if stateful and self.state_at != "dataset":
            return "both states" if self.state_at == "both" else "iterator state"
        return f"{stateful}stream" if self.stream != "plain" or self.private else self.kind

    @property
    def whole(self) -> bool:
        """Whether each sample comes once an epoch."""
        return self.sampler not in ("replacement", "subset", "weighted")

    @property
    def feature(self) -> str:
        """The unusual features of the dataset, in a few words; empty for the plain datasets."""
        parts = (
            "shuffled stream" if self.shuffle and "iterable" in self.kind else "",
            f"{self.stream} stream" if self.stream != "plain" else "",
            {"dataset": "", "iterator": "state on the iterator"}.get(
                self.state_at, "state on dataset and iterator"
            ),
            f"tree: {self.tree}" if self.tree not in ("", "plain") else "",
            f"{self.private[0]} generator" if self.private else "",
            f"{self.sampler} sampler" if self.sampler else "",
            "drawing collate_fn" if self.collated else "",
            "failing collate_fn" if self.fails_in == "collate_fn" and not self.falsy else "",
            "batches fetched at once" if self.getitems else "",
            "other lengths" if self.grow else "",
            "rolled over" if self.tail == "rollover" else "",
            "arrays" if self.width > 1 else "",
            f"rows with {self.payload}" if self.payload else "",
            "false samples" if self.falsy else "",
            "uneven workers" if self.gate else "",
            "" if self.batch_size else "without batches",
            "states that cannot be taken" if self.unsaved else "",
            f"ranks {self.ranks}" if self.ranks else "",
        )
        return ", ".join(part for part in parts if part)
