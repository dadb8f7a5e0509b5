"""The workload: what a loader under test is asked to deliver (standard library only).

A sample's row is ``[id, *draws]`` and is computed by the workload itself, so that a
sample can draw, count, fail or kill its worker wherever the loader happens to compute it.
What makes the rows of streams, and of datasets with a state, is in ``sources.py``; such rows
may end with what shows the dataset's history. Adapters receive a :class:`Workload` and never
import this module.
"""

from __future__ import annotations

import dataclasses
import os
import random
import signal
import time
from collections.abc import Callable, Iterator
from typing import Any

from midepoch_conformance.case import sources, trees

__all__ = ["AMBIENT_DRAWS", "KINDS", "WIDE", "Workload", "WorkloadError"]

KINDS = ("map", "iterable", "stateful_iterable", "files", "stateful_map")
"""What the dataset is: random access; a plain stream; a stream with ``state_dict`` and
``load_state_dict``; shards on disk that ``Adapter.prepare`` writes; random access with the two
methods, whose rows show its history."""

AMBIENT_DRAWS = ("python", "numpy", "torch")

WIDE = 32
"""Numbers above which a row is told by those that it holds, each once."""

PATIENCE = 3.0
"""Seconds that a sample waits at its gate before it goes on all the same."""

_CHOICES: dict[str, tuple[str, ...]] = {
    "stream": tuple(sources.SOURCES),
    "state_at": ("dataset", "iterator", "both"),
    "tree": ("", *trees.TREES),
    "sampler": ("", "random", "replacement", "subset", "weighted", "batches", "custom", "stateful",
                "distributed"),
}  # fmt: skip


class WorkloadError(RuntimeError):
    """The error that a sample raises on purpose (``Workload.fail_at``)."""


@dataclasses.dataclass
class Workload:
    """One logical data set with its plan; picklable under fork and spawn.

    Attributes:
        kind: one of :data:`KINDS`.
        n: number of samples in an epoch.
        batch_size: samples a batch.
        epochs: epochs that an uninterrupted run iterates.
        shuffle: whether the loader's own shuffling is asked for.
        seed: the seed that the adapter hands to the loader by its documented means.
        tail: ``"keep"`` or ``"drop"`` the incomplete last batch, or ``"rollover"``: its samples
            open the next epoch.
        draws: random streams that each sample draws one number from: ``"python"``,
            ``"numpy"``, ``"torch"`` (the global streams), ``"own"`` (the loader's
            documented source, which the adapter passes on) or, for datasets with a state,
            ``"private python"`` ... (a generator of the dataset's own, in its state).
        tree: what a Stateful dataset adds to its state, one of :data:`trees.TREES`.
        fail_at: the sample that raises :class:`WorkloadError`; -1: the dataset itself does,
            when a lane is set up.
        stop_at: the sample that raises ``StopIteration``.
        die_at: the sample that kills the process computing it with SIGKILL.
        die_once: whether it does so the first time alone; needs a log.
        log: a file to which fetches and calls are appended.
        stream: how a lane of an iterable makes its rows, one of :data:`sources.SOURCES`.
        state_at: where a Stateful iterable keeps its state: ``"dataset"``, ``"iterator"`` or
            ``"both"``.
        sampler: the user's sampler of a map-style dataset: torch's ``"random"``,
            ``"replacement"``, ``"subset"`` or ``"weighted"`` with a generator of their own,
            ``"distributed"`` with its epoch set from outside, or a class of the user's:
            ``"custom"``, ``"stateful"`` or ``"batches"``, of :data:`sources.SAMPLERS`.
        grow: how many samples more each next epoch has: the user sets the length before it.
        width: how often a row begins with its id; where it does so more than once the row is a
            NumPy array of integers, and an adapter has its loader make one array, or one
            tensor, of a batch's rows, as it would of a user's samples.
        gate: ``(a, b)``: sample a waits until another worker has fetched sample b; needs a log.
    """

    kind: str = "map"
    n: int = 13
    batch_size: int = 4
    epochs: int = 2
    shuffle: bool = False
    seed: int = 0
    tail: str = "keep"
    draws: tuple[str, ...] = ()
    tree: str = ""
    fail_at: int | None = None
    stop_at: int | None = None
    die_at: int | None = None
    log: str | None = None
    stream: str = "plain"
    state_at: str = "dataset"
    sampler: str = ""
    grow: int = 0
    gate: tuple[int, int] | None = None
    die_once: bool = False
    width: int = 1

    def __post_init__(self) -> None:
        # JSON has no tuples; and a tree was once all or nothing: its type says text alone, and
        # the booleans of stored cases are looked up all the same.
        self.draws = tuple(self.draws)
        self.gate = None if self.gate is None else (self.gate[0], self.gate[1])
        self.tree = {True: "plain", False: ""}.get(self.tree, self.tree)  # type: ignore[call-overload]
        for name, known in _CHOICES.items():
            if getattr(self, name) not in known:
                raise ValueError(f"{name} is one of {known}, got {getattr(self, name)!r}")

    # A sample

    def row(self, i: int, rng: Callable[[], float] | None = None) -> Any:
        """Return the row of sample ``i``: ``[i, *draws]``, or ``width`` times ``i`` as an array.

        ``rng`` is a function that draws a float from the loader's own documented source;
        it is needed only where ``"own"`` is among the draws.
        """
        self.note(f"fetch {i}")
        if self.gate is not None and i == self.gate[0]:
            self._wait(self.gate[1])
        if i == self.fail_at:
            raise WorkloadError(f"sample {i} fails on purpose")
        if i == self.stop_at:
            raise StopIteration
        if i == self.die_at and not (self.die_once and self._noted("die")):
            self.note("die")
            os.kill(os.getpid(), signal.SIGKILL)
        if self.width > 1:
            import numpy

            return numpy.full(self.width, i)
        row: list[float] = [i]
        for name in self.draws:
            if name not in sources.GENERATORS:
                row.append(self._draw(name, rng))
        return row

    def _draw(self, name: str, rng: Callable[[], float] | None) -> float:
        if name == "python":
            return random.random()
        if name == "numpy":
            import numpy

            return float(numpy.random.random())
        if name == "torch":
            import torch

            return float(torch.rand(()).item())
        if rng is None:
            raise ValueError("this workload draws from the loader's own source: pass rng to row()")
        return float(rng())

    def _wait(self, other: int) -> None:
        """Wait until sample ``other`` was fetched; no verdict hangs on it, so not for ever."""
        until = time.monotonic() + PATIENCE
        while self.log is not None and time.monotonic() < until:
            if self._noted("fetch", str(other)):
                return
            time.sleep(0.002)

    def _noted(self, *words: str) -> bool:
        """Return whether a line of the log says this."""
        if self.log is None or not os.path.exists(self.log):
            return False
        with open(self.log, encoding="ascii") as log:
            return any(line.split()[1:] == list(words) for line in log)

    def note(self, what: str) -> None:
        """Append a line to the log, if there is one.

        It is ``fetch I``, ``state_dict``, ``iter`` or ``die``.

        Lines are short and written with ``O_APPEND``, hence whole under any number of workers.
        """
        if self.log is not None:
            with open(self.log, "a", encoding="ascii") as log:
                log.write(f"{os.getpid()} {what}\n")

    # A dataset

    @property
    def form(self) -> str:
        """The dataset's form, which tells what class an adapter makes of it.

        ``"map"``, ``"files"``, ``"iterable"`` and ``"stateful_iterable"`` are the plain ones,
        whose rows are those of their ids in order. The others have a :meth:`source`:
        ``"stateful_map"``, ``"stream"``, ``"stateful stream"``; ``"own iterator"`` and
        ``"stateful own iterator"``, where ``iter(dataset) is dataset``; ``"iterator state"`` and
        ``"both states"``, by where a Stateful iterable keeps its state.
        """
        if self.kind not in ("iterable", "stateful_iterable"):
            return self.kind
        stateful = "stateful " if self.kind == "stateful_iterable" else ""
        if issubclass(sources.SOURCES[self.stream], sources.OneShot):
            return f"{stateful}own iterator"
        if stateful and self.state_at != "dataset":
            return "both states" if self.state_at == "both" else "iterator state"
        return f"{stateful}stream" if self.stream != "plain" or self.private else self.kind

    @property
    def private(self) -> tuple[str, ...]:
        """The draws from generators of the dataset's own."""
        return tuple(draw for draw in self.draws if draw in sources.GENERATORS)

    def share(self, lane: int, lanes: int) -> list[int]:
        """Return the samples of one of several lanes of an iterable.

        Example:
            >>> [Workload(n=7, stream="uneven").share(lane, 3) for lane in range(3)]
            [[0, 3, 4, 5, 6], [1], [2]]
            >>> [Workload(n=3, stream="hollow").share(lane, 3) for lane in range(3)]
            [[], [0, 1, 2], []]
        """
        if self.stream == "uneven":
            turn = 2 * lanes
            return [i for i in range(self.n) if (i % turn if i % turn < lanes else 0) == lane]
        if self.stream == "hollow":
            full = [number for number in range(lanes) if number % 2] or [0]
            return list(range(self.n)[full.index(lane) :: len(full)]) if lane in full else []
        return list(range(self.n)[lane::lanes])

    def stream_of(
        self, lane: int = 0, lanes: int = 1, rng: Callable[[], float] | None = None
    ) -> Iterator[list[float]]:
        """Return an iterator of a lane's rows: a pass of an iterable without a state."""
        source = self.source(lane, lanes, rng)
        return (row for row in source)

    def source(self, lane: int = 0, lanes: int = 1, rng: Callable[[], float] | None = None) -> Any:
        """Return what makes a lane's rows, and knows its state.

        It has ``iter`` (of ``stateful_map``: ``[i]``) and the two methods of a Stateful object;
        what is its own iterator has ``next`` as well.

        Raises:
            WorkloadError: that is asked for (``fail_at=-1``).
        """
        if self.fail_at == -1:
            raise WorkloadError("the dataset fails on purpose when it is set up")
        made = sources.Counting if self.kind == "stateful_map" else sources.SOURCES[self.stream]
        source = made(self, self.share(lane, lanes), rng)
        # Lanes draw differently: two with the same seed would hide that they were mixed up.
        generators = [sources.GENERATORS[draw](self.seed + lane) for draw in self.private]
        return sources.Private(source, generators) if generators else source

    def iterator(
        self,
        lane: int = 0,
        lanes: int = 1,
        rng: Callable[[], float] | None = None,
        dataset: Any = None,
    ) -> Any:
        """Return a Stateful iterator of a lane's rows, for ``state_at`` other than the dataset.

        A ``dataset`` has an attribute ``count``: the number of rows that it ever gave, which
        is its own part of the state, and which each row then ends with.
        """
        return sources.RowIterator(self.source(lane, lanes, rng), dataset)

    # A Stateful dataset's state

    def state_tree(self, position: int) -> Any:
        """Return what a Stateful dataset adds to its state at ``position`` (STATE-6)."""
        return trees.tree_at(self.tree or "plain", position)

    def check_tree(self, position: int, tree: object) -> None:
        """Raise ``WorkloadError`` unless ``tree`` equals :meth:`state_tree` in value and type."""
        if trees.spelled(tree) != trees.spelled(self.state_tree(position)):
            raise WorkloadError(f"the dataset's state came back changed at {position}: {tree!r}")

    def dataset_state(self, position: int) -> dict[str, Any]:
        """Return a well-behaved Stateful dataset's state at ``position``, and note the call.

        Where the tree is ``"mutated"``, it is the same object each time, changed in place.
        """
        self.note("state_dict")
        state = {"position": position, **({"tree": self.state_tree(position)} if self.tree else {})}
        if self.tree != "mutated":
            return state
        held: dict[str, Any] = self.__dict__.setdefault("_held", {})
        trees.change(held, state)
        return held

    def dataset_position(self, state: Any) -> int:
        """Return the position in what :meth:`dataset_state` returned.

        Raises:
            WorkloadError: a part is missing or changed, as a careful dataset would say.
        """
        position = state.get("position") if isinstance(state, dict) else None
        if type(position) is not int or ("tree" in state) != bool(self.tree):
            raise WorkloadError(f"the dataset's state came back incomplete: {state!r}")
        if self.tree:
            self.check_tree(position, state["tree"])
        return position

    # Samplers, and epochs set from outside

    def order(self) -> Any:
        """Return the user's own sampler, for ``sampler`` in :data:`sources.SAMPLERS`."""
        return sources.SAMPLERS[self.sampler](self)

    @property
    def subset(self) -> list[int]:
        """The samples that ``sampler="subset"`` is of."""
        return [i for i in range(self.n) if i % 3]

    @property
    def weights(self) -> list[int]:
        """The weights that ``sampler="weighted"`` draws by."""
        return [1 + i % 3 for i in range(self.n)]

    def length(self, epoch: int) -> int:
        """Return the number of samples of an epoch."""
        return max(0, self.n + epoch * self.grow)

    @property
    def whole(self) -> bool:
        """Whether each sample comes once an epoch."""
        return self.sampler not in ("replacement", "subset", "weighted")

    @property
    def feature(self) -> str:
        """What is out of the ordinary, in a few words; empty for the plain datasets."""
        parts = (
            f"{self.stream} stream" if self.stream != "plain" else "",
            {"dataset": "", "iterator": "state on the iterator"}.get(
                self.state_at, "state on dataset and iterator"
            ),
            f"tree: {self.tree}" if self.tree not in ("", "plain") else "",
            f"{self.private[0]} generator" if self.private else "",
            f"{self.sampler} sampler" if self.sampler else "",
            "other lengths" if self.grow else "",
            "rolled over" if self.tail == "rollover" else "",
            "arrays" if self.width > 1 else "",
            "uneven workers" if self.gate else "",
        )
        return ", ".join(part for part in parts if part)
