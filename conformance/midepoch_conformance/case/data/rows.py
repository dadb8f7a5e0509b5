"""The samples of a workload: their rows, their failures, and their makers (standard library).

A sample's row is ``[id, *draws]`` and is computed by the workload itself, so that a sample can
draw, count, fail or kill its worker wherever the loader happens to compute it. ``sources.py``
makes the rows of streams, and of datasets with a state.

The script of a failure holds this module as far as the failure needs it: it is specialised for
the case's workload (see ``scripts/specialise.py``). One attribute alone guards the
code of an optional part (``if self.gate is not None``), so that the code can be dropped.
"""

from __future__ import annotations

import itertools
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from midepoch_conformance.case.data.draws import DRAWS, MIXED
from midepoch_conformance.case.data.published import BATCHES, ORDERS, STREAMS
from midepoch_conformance.case.data.samplers import SAMPLERS
from midepoch_conformance.case.data.sources import (
    GENERATORS,
    SOURCES,
    Counting,
    Private,
    RowIterator,
)
from midepoch_conformance.case.data.trees import BARE, HELD, MAKERS, change, spelled, tree_at, write

__all__ = ["EMPTY_AT", "FALSE", "Rows", "UnreadableError", "WorkloadError"]

EMPTY_AT = 4
"""The position at which a state that shrinks is empty: a loader may not take it for none."""

FALSE: tuple[Callable[[], Any], ...] = (type(None), bool, float, str, tuple, list, dict, bytes)
"""The types of the first samples where samples are false: each has one false value."""

PATIENCE = 3.0
"""Seconds that a sample waits at its gate; then it continues anyway."""


DELAY = 0.02
"""Seconds that a slow sample takes."""

PAUSE = 0.2
"""Seconds until a worker's sample interrupts the loader."""


class WorkloadError(RuntimeError):
    """The error that a sample raises on purpose (``Workload.fail_at``)."""


class UnreadableError(WorkloadError):
    """Such an error that cannot be unpickled: its class needs two values, and keeps one text."""

    def __init__(self, sample: int | None, words: str) -> None:
        super().__init__(f"sample {sample} {words}")


class Rows:
    """The samples of a workload, and what its datasets and samplers are made of."""

    kind: str
    n: int
    batch_size: int
    seed: int
    draws: tuple[str, ...]
    mixed: bool
    tree: str
    fail_at: int | None
    fails_also: tuple[int, ...]
    fails_in: str
    ends: bool
    stop_at: int | None
    die_at: int | None
    exits_at: tuple[int, ...]
    interrupt_at: int | None
    log: str | None
    stream: str
    sampler: str
    grow: int
    gate: tuple[int, int] | None
    slow: tuple[int, ...]
    die_once: bool
    fail_once: bool
    unsaved: int
    dies_again: bool
    width: int
    payload: str
    falsy: bool
    unreadable: bool
    begun: tuple[float, ...] = ()
    """The draws from when a lane's dataset was set up, for ``stream="set up"``."""
    epoch: int = 0
    """The epoch that the user has set on the dataset, for ``stream="set"``."""
    part: tuple[int, int] = (0, 1)
    """The number that the lane then had, and that of all lanes, for ``stream="divided"``."""

    def __init__(self, **facts: Any) -> None:
        vars(self).update(facts)

    @property
    def private(self) -> tuple[str, ...]:
        """The draws from generators of the dataset's own."""
        return tuple(draw for draw in self.draws if draw in GENERATORS)

    @property
    def ambient(self) -> tuple[str, ...]:
        """The draws from other streams."""
        return tuple(draw for draw in self.draws if draw not in GENERATORS)

    @property
    def special_stream(self) -> bool:
        """Whether the stream is one of :data:`.published.STREAMS`."""
        return self.stream in STREAMS

    @property
    def special_order(self) -> bool:
        """Whether the sampler is one of :data:`.published.ORDERS`."""
        return self.sampler in ORDERS

    @property
    def gives_batches(self) -> bool:
        """Whether the sampler gives batches of indices."""
        return self.sampler in ("batches", "arrays", "refilled", *BATCHES)

    @property
    def sets_epoch(self) -> bool:
        """Whether the user sets the sampler's epoch, or the dataset's, before each."""
        dated = self.sampler in ("distributed", "prepared", "dated", "turning")
        return dated or self.stream == "set"

    # A sample

    def row(self, i: Any, rng: Callable[[], float] | None = None) -> Any:
        """Return the row of sample ``i``: ``[i, *draws]``, or ``width`` times ``i`` as an array.

        With a ``payload`` the tree of the sample's own follows, and with ``stream="set up"`` a
        map-style dataset's draws from when it was set up. ``i`` may be a key ``[shard, place]`` of
        the sampler ``"keys"``, or a tuple of ``"pairs"``.

        ``rng`` is a function that draws a float from the loader's own documented source;
        it is needed only where ``"own"`` is among the draws.
        """
        if self.sampler == "pairs" and not isinstance(i, tuple):
            raise WorkloadError(f"a key is a tuple, got {i!r}")
        if isinstance(i, (list, tuple)):
            i = 4 * i[0] + i[1]
        self.note(f"fetch {i}")
        if self.tree in HELD:
            self._go_on()
        if self.gate is not None and i == self.gate[0]:
            self._wait(self.gate[1])
        if self.slow and i in self.slow:
            time.sleep(DELAY)  # no verdict depends on it
        if self.fail_at is not None and i == self.fail_at and self.fails_in == "dataset":
            self._fail(i)
        if self.fails_also and i in self.fails_also and self.fails_in == "dataset":
            self._fail(i)
        if self.stop_at is not None and i == self.stop_at:
            raise StopIteration
        if self.die_at is not None and i == self.die_at and not self._is_dead():
            self.note("die")
            os.kill(os.getpid(), signal.SIGKILL)
        if self.exits_at and i in self.exits_at and not self._noted("exit", str(i)):
            self.note(f"exit {i}")
            if threading.current_thread() is threading.main_thread():
                os._exit(3)
            sys.exit(3)  # a worker that is a thread
        if self.interrupt_at is not None and i == self.interrupt_at and self.fails_in == "dataset":
            self.interrupt()
        if self.width > 1:
            import numpy

            return numpy.full(self.width, i)
        if self.falsy and i < len(FALSE):
            return FALSE[i]()
        start = self.begun if self.kind == "map" and self.stream == "set up" else ()
        return [i, *self.drawn(rng), *([tree_at(self.payload, i)] if self.payload else []), *start]

    def collate(self, rows: list[Any]) -> list[Any]:
        """Return the rows as a batch, unless they hold the sample that cannot be collated.

        False samples become rows here.

        Raises:
            WorkloadError: they do, for ``fails_in="collate_fn"``.
        """
        if self.falsy:
            rows = [row or [FALSE.index(type(row))] for row in rows]
        if self.interrupt_at is not None and any(row[0] == self.interrupt_at for row in rows):
            self.interrupt()
        for row in rows:
            if row[0] == self.fail_at or row[0] in self.fails_also:
                self._fail(row[0])
        return list(rows)

    def drawn(self, rng: Callable[[], float] | None = None) -> list[float]:
        """Return a number of each stream that samples draw from; ``rng`` as for :meth:`row`."""
        drawn = [DRAWS[name](rng) for name in self.ambient]
        if self.mixed:
            drawn += [MIXED[name](rng) for name in self.ambient]
        return drawn

    def interrupt(self) -> None:
        """Send Ctrl-C to the process that waits for this sample or index, the first time."""
        if self._noted("interrupt"):
            return
        self.note("interrupt")
        parent = multiprocessing.parent_process()
        if parent is not None:
            # A worker gives the loader the time to wait for this batch; no verdict depends on it.
            time.sleep(PAUSE)
        os.kill(os.getpid() if parent is None else parent.pid or 0, signal.SIGINT)

    def _fail(self, sample: int) -> None:
        """Raise, unless ``fail_once`` is set and the sample has raised already."""
        if self.fail_once and self._noted("fail"):
            return
        self.note("fail")
        if self.ends:
            raise StopIteration
        if self.unreadable:
            raise UnreadableError(sample, "fails on purpose")
        raise WorkloadError(f"sample {sample} fails on purpose")

    def _is_dead(self) -> bool:
        """Return whether ``die_once`` is set and the sample has killed its worker already."""
        return self.die_once and self._noted("die")

    def _wait(self, other: int) -> None:
        """Wait a while until sample ``other`` was fetched; no verdict depends on it."""
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

        It is ``fetch I``, ``state_dict``, ``iter``, ``fail``, ``die`` or ``interrupt``.

        Lines are short and written with ``O_APPEND``, hence whole under any number of workers.
        """
        if self.log is not None:
            with open(self.log, "a", encoding="ascii") as log:
                log.write(f"{os.getpid()} {what}\n")

    # A dataset

    def share(self, lane: int, lanes: int) -> list[int]:
        """Return the samples of one of several lanes of an iterable.

        Example:
            >>> from midepoch_conformance.case.workload import Workload
            >>> [Workload(n=7, stream="uneven").share(lane, 3) for lane in range(3)]
            [[0, 3, 4, 5, 6], [1], [2]]
            >>> [Workload(n=3, stream="hollow").share(lane, 3) for lane in range(3)]
            [[], [0, 1, 2], []]
        """
        if self.stream == "rising":
            lane = lanes - 1 - lane
        if self.stream in ("uneven", "rising"):
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
        # A generator would be over after an exception, which these streams go on after.
        goes_on = self.special_stream or hasattr(source, "__next__")
        return itertools.chain(iter(source)) if goes_on else (row for row in source)

    def source(self, lane: int = 0, lanes: int = 1, rng: Callable[[], float] | None = None) -> Any:
        """Return the object that makes a lane's rows and keeps their state.

        The object has ``iter`` (of ``stateful_map``: ``[i]``) and the two methods of a Stateful
        object. An object that is its own iterator has ``next`` as well.

        Raises:
            WorkloadError: the workload has ``fail_at=-1``.
        """
        if self.fail_at == -1:
            raise WorkloadError("the dataset fails on purpose when it is set up")
        if self.stream == "divided":
            lane, lanes = self.part
        plain = Counting if self.kind == "stateful_map" and self.stream == "plain" else None
        made = plain or (STREAMS if self.special_stream else SOURCES)[self.stream]
        source = made(self, self.share(lane, lanes), rng)
        if not self.private:
            return source
        # Lanes draw differently: two with the same seed would hide that they were mixed up.
        return Private(source, [GENERATORS[draw](self.seed + lane) for draw in self.private])

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
        return RowIterator(self.source(lane, lanes, rng), dataset)

    # A Stateful dataset's state

    def state_tree(self, position: int) -> Any:
        """Return what a Stateful dataset adds to its state at ``position`` (STATE-6)."""
        return MAKERS[self.tree or "plain"](position)

    def check_tree(self, position: int, tree: object) -> None:
        """Raise ``WorkloadError`` unless ``tree`` equals :meth:`state_tree` in value and type."""
        if spelled(tree) != spelled(self.state_tree(position)):
            raise WorkloadError(f"the dataset's state came back changed at {position}: {tree!r}")

    def dataset_state(self, position: int) -> dict[str, Any]:
        """Return a well-behaved Stateful dataset's state at ``position``, and note the call.

        A state of :data:`.trees.HELD` is the same object each time. It changes in place with each
        row, as that of a dataset does which hands out what it works with.

        Raises:
            WorkloadError: the state cannot be told here, for ``unsaved``.
        """
        self.note("state_dict")
        if self.unsaved and position % self.unsaved == self.unsaved - 1:
            raise WorkloadError(f"the state after {position} rows cannot be told, on purpose")
        if self.tree not in HELD:
            return self._state_at(position)
        held: dict[str, Any] = self.__dict__.setdefault("_held", {})
        change(held, self._state_at(position))
        return held

    def _state_at(self, position: int) -> dict[str, Any]:
        if self.tree == "shrinking" and position == EMPTY_AT:
            return {}
        state: dict[str, Any] = {"position": position}
        if self.tree not in BARE:
            state["tree"] = self.state_tree(position)
        return state

    def _go_on(self) -> None:
        """Change the state that was handed out, for a row that follows."""
        held = self.__dict__.get("_held")
        if held:
            change(held, self._state_at(held["position"] + 1))

    def dataset_position(self, state: Any) -> int:
        """Return the position in what :meth:`dataset_state` returned.

        Raises:
            WorkloadError: a part is missing or changed, as a careful dataset would say.
        """
        if self.dies_again and self._noted("die") and not self._noted("die", "again"):
            self.note("die again")
            os.kill(os.getpid(), signal.SIGKILL)
        if self.tree == "shrinking" and state == {}:
            return EMPTY_AT
        position = state.get("position") if isinstance(state, dict) else None
        if type(position) is not int or ("tree" in state) is (self.tree in BARE):
            raise WorkloadError(f"the dataset's state came back incomplete: {state!r}")
        if self.tree not in BARE:
            self.check_tree(position, state["tree"])
            if self.tree == "arrays":
                write(state["tree"])
        return position

    # Samplers, and epochs set from outside

    def order(self) -> Any:
        """Return the user's own sampler, for ``sampler`` in :data:`.samplers.SAMPLERS`."""
        return (ORDERS if self.special_order else SAMPLERS)[self.sampler](self)

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
