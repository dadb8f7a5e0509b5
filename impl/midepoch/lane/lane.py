"""A lane: a logical worker. Dataset copy, seeding, iteration, fetching, snapshot and restore.

It does not know where it runs; ``workers/`` hosts lanes in this process or in others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from midepoch import _torch
from midepoch.errors import ReplayMismatchError, StateFormatError
from midepoch.format.seeds import BatchSeeds, words
from midepoch.format.state import LaneEntry
from midepoch.lane import streams
from midepoch.lane.batch_info import BatchInfo, Making, renew
from midepoch.lane.datapipes import PipeSettings
from midepoch.lane.messages import (
    Batch,
    Done,
    Ended,
    Failure,
    Fetch,
    Finish,
    Outcome,
    Reply,
    Snapshot,
)
from midepoch.stateful import Frozen, freeze, is_stateful, thaw

__all__ = ["Lane", "LaneSpec"]


@dataclass(frozen=True)
class LaneSpec:
    """What all lanes of a loader share."""

    iterable: bool
    batch_size: int | None
    """Iterables: samples a batch; ``None`` without automatic batching."""
    drop_last: bool
    automatic: bool
    """A fetch gets several samples."""
    collate: Callable[[Any], Any]
    init: Callable[[int], None] | None
    lanes: int
    seed: int
    keeps: bool
    """Lifetime ``run``: the lanes' datasets live on from epoch to epoch."""
    interval: int
    """Iterables: own batches between two snapshots; 0: none that could be spared."""
    pipes: PipeSettings | None = None
    """Data pipes: their sharding and their seeds."""
    seed_streams: bool = True
    """The global random streams are the lanes' to seed; in threads they are everybody's."""
    isolate_streams: bool = True
    """In the caller's own thread: put the caller's streams back after each task."""
    single_thread: bool = True
    """Run users' code with one intra-op thread."""

    def shares(self, dataset: object) -> bool:
        """Tell whether lanes in one process may use one dataset object.

        Without state and without a ``worker_init_fn`` to change it, a map-style dataset's
        values do not depend on the lane.
        """
        changed = self.iterable or self.init is not None or self.pipes is not None
        return not changed and not is_stateful(dataset)


class _PassEndedError(Exception):
    """The lane's iterator has no more samples."""


class Lane:
    """One lane in one epoch.

    The order in which user code runs at its start is written in ``open`` and nowhere else.
    """

    def __init__(self, spec: LaneSpec, number: int, dataset: Any, epoch: int) -> None:
        self.spec = spec
        self.number = number
        self.dataset = dataset
        self.epoch = epoch
        self._stateful = is_stateful(dataset)
        self._iterator: Iterator[Any] | None = None
        self._ordinal = 0
        self._ended = False
        self._untouched = False
        self.rests = False
        """The dataset object was given the state of an epoch's end, and is not iterated."""
        position = (number,) if spec.keeps else (epoch, number)
        self._seeds = words(spec.seed, "worker", *position)
        self._collate = _torch.unshared(spec.collate)
        self._info = (
            _torch.make_info(number, spec.lanes, self._seeds.torch, dataset) if spec.lanes else None
        )

    def inside(self) -> AbstractContextManager[None]:
        """Let ``get_worker_info()`` report this lane."""
        return _torch.lane_info(self._info)

    def initialise(self) -> None:
        """Run the user's ``worker_init_fn``, once for each dataset object, on its shard."""
        if self.spec.pipes is not None:
            self.spec.pipes.shard(self.dataset, self.number)
        if self.spec.init is not None and self.spec.lanes:
            self._seed(self._seeds)
            self.spec.init(self.number)

    def open(self, entry: LaneEntry | None, *, rested: bool = False) -> None:
        """Start the epoch at ``entry``: dataset, ``iter``, iterator, then the replay.

        ``rested``: this object was last given the state of an epoch's end, and not iterated.

        Raises:
            ReplayMismatchError: the lane ends before all that it had delivered.
        """
        if entry is None:
            self._begin()
            self._untouched = rested
            return
        self._seed_start()
        resting = entry.ended and not self.spec.keeps  # its object is not used again
        if "dataset" in entry.stated and not resting:
            self.dataset.load_state_dict(thaw(entry.dataset))
        if not self.spec.iterable:
            return
        if entry.ended:
            self._ended = self.rests = True
            return
        self._begin()
        if "iterator" in entry.stated:
            self._load_iterator(entry.iterator)
        self._untouched = entry.ordinal <= 0 and "dataset" in entry.stated
        if entry.ordinal < 0:
            self._leave_pass(-entry.ordinal)
        self._ordinal = max(0, entry.ordinal)
        self._replay(entry.replay)

    def fetch(self, task: Fetch) -> Reply:
        """Run one task; an error of the user's is its outcome."""
        return self._fetch_iterable(task) if self.spec.iterable else self._fetch_map(task)

    def finish(self, task: Finish) -> Reply:
        """Answer with the dataset's state at the epoch's end."""
        return Reply(task.turn, task.slot, Done(), self.report())

    def report(self) -> Snapshot | None:
        """Return the dataset's state between two epochs."""
        return self._take_snapshot(None)

    def _begin(self) -> None:
        if self.spec.iterable:
            self._seed_start()
            if self.spec.pipes is not None:
                self.spec.pipes.seed(self.dataset, self.epoch)
            self._iterator = iter(self.dataset)

    def _seed_start(self) -> None:
        self._seed(words(self.spec.seed, "lane", self.epoch, self.number))

    def _seed(self, seeds: BatchSeeds) -> None:
        if self.spec.seed_streams:
            streams.seed(seeds)

    def _load_iterator(self, state: Frozen) -> None:
        target: Any = self._iterator
        if not is_stateful(target):
            raise StateFormatError(
                f"holds a state, but iter() of {type(self.dataset).__qualname__} gave "
                f"{type(target).__qualname__}, which has no load_state_dict",
                f"$.lanes.entries[{self.number}].iterator",
            )
        target.load_state_dict(thaw(state))

    def _leave_pass(self, calls: int) -> None:
        """Go on with the previous pass for ``calls`` batches, leave it, and begin a new one.

        Many datasets keep a loaded position until an iterator has been started on it.
        """
        for number in range(calls):
            try:
                with self._making(number):  # its place in the pass before is not known
                    self._collect()
            except _PassEndedError:
                break
            except Exception:
                continue  # shown by the run before
        self._untouched = False
        self._begin()

    def _replay(self, count: int) -> None:
        for done in range(count):
            try:
                with self._batch(self._ordinal):
                    _, _, self._ended = self._collect()
            except _PassEndedError:
                raise ReplayMismatchError(
                    f"lane {self.number} ended after {done} of {count} batches to replay: its "
                    "dataset gives less than before the state was taken"
                ) from None
            except Exception:
                self._ended = False  # shown by the run before; it used its turn up all the same
            self._ordinal += 1

    def _batch(self, index: int) -> Making:
        """Seed the streams for batch ``index``; return what it is made in."""
        if self.spec.seed_streams:
            streams.seed(self._words(index))
        return self._making(index)

    def _making(self, index: int) -> Making:
        return Making(lambda: BatchInfo(self.epoch, index, self.number, self._words(index).private))

    def _words(self, index: int) -> BatchSeeds:
        """Return the seeds of a batch by its index: in the epoch, of iterables in the lane."""
        if self.spec.iterable:
            return words(self.spec.seed, "batch.iterable", self.epoch, self.number, index)
        return words(self.spec.seed, "batch.map", self.epoch, index)

    def _collect(self) -> tuple[Any, int, bool]:
        """Return the next samples, their number, and whether they were the last."""
        if self.spec.batch_size is None:
            return self._next(), 1, False
        samples: list[Any] = []
        try:
            while len(samples) < self.spec.batch_size:
                samples.append(self._next())
        except _PassEndedError:
            if not samples or self.spec.drop_last:
                raise
            return samples, len(samples), True
        return samples, len(samples), False

    def _next(self) -> Any:
        if self._iterator is None:
            raise _PassEndedError
        try:
            sample = next(self._iterator)
        except StopIteration:
            if not self._untouched:
                raise _PassEndedError from None
            # A loaded end state stuck to the first pass only: this epoch's is the next one.
            self._untouched = False
            with Making(None):
                self._begin()
            self._batch(self._ordinal)
            renew()
            return self._next()
        self._untouched = False
        return sample

    def _fetch_iterable(self, task: Fetch) -> Reply:
        if self._ended:
            return Reply(task.turn, task.slot, Ended())
        with self._batch(self._ordinal):
            outcome = self._produce()
        if not isinstance(outcome, Ended):
            self._ordinal += 1
        return Reply(task.turn, task.slot, outcome, self._snapshot_if_due())

    def _produce(self) -> Outcome:
        try:
            samples, count, self._ended = self._collect()
            return Batch(_guarded(self._collate, samples), count, self._ended)
        except _PassEndedError:
            self._ended = True
            return Ended()
        except Exception as error:
            return Failure(error)

    def _snapshot_if_due(self) -> Snapshot | None:
        interval = self.spec.interval
        due = interval > 0 and (self._ended or self._ordinal % interval == 0)
        # A dataset that lives on is snapshotted once in each pass even where snapshots are off:
        # without that, no later epoch could ever be reached again.
        vital = self.spec.keeps and self._stateful
        if not due and not (vital and (self._ended or self._ordinal == 1)):
            return None
        return self._take_snapshot(None if self._ended else self._iterator)

    def _take_snapshot(self, iterator: Any) -> Snapshot | None:
        """Return both states; an object that is its own iterator is stored once, as that."""
        inner = iterator is not None and is_stateful(iterator)
        outer = self._stateful and iterator is not self.dataset
        if not inner and not outer:
            return None
        try:
            return Snapshot(
                freeze(self.dataset.state_dict()) if outer else None,
                freeze(iterator.state_dict()) if inner else None,
            )
        except Exception as error:
            return Snapshot(trouble=f"{type(error).__qualname__}: {error}")

    def _fetch_map(self, task: Fetch) -> Reply:
        with self._batch(task.number):
            outcome = self._look_up(task)
        snapshot = self._take_snapshot(None) if task.snapshot else None
        return Reply(task.turn, task.slot, outcome, snapshot)

    def _look_up(self, task: Fetch) -> Outcome:
        try:
            samples = _guarded(self._get, task.keys)
            return Batch(_guarded(self._collate, samples), 0) if task.ship else Done()
        except Exception as error:
            return Failure(error) if task.ship else Done()  # a replayed one was shown before

    def _get(self, keys: Any) -> Any:
        if not self.spec.automatic:
            return self.dataset[keys]
        several = getattr(self.dataset, "__getitems__", None)
        return several(keys) if several else [self.dataset[key] for key in keys]


def _guarded(function: Callable[[Any], Any], argument: Any) -> Any:
    """Call ``function``; a StopIteration that it lets out must not end the epoch (FAULT-3)."""
    try:
        return function(argument)
    except StopIteration as error:
        raise RuntimeError("the dataset or collate_fn raised StopIteration") from error
