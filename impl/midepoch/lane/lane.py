"""A lane: a logical worker with its dataset object, random streams and place in the epoch.

A lane does not know where it runs; ``workers/`` hosts lanes in this process or in others.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from typing import Any

from midepoch import _torch
from midepoch.encoding.canonical import DIGEST_START, chain_digest
from midepoch.errors import ReplayMismatchError
from midepoch.format.seeds import BatchSeeds, derive_words
from midepoch.format.state import LaneEntry
from midepoch.lane import streams
from midepoch.lane.batch_info import BatchInfo, BatchScope, renew
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
from midepoch.lane.passes import Pass
from midepoch.stateful import freeze_states, is_stateful, thaw

__all__ = ["Lane", "LaneSpec"]


@dataclass(frozen=True)
class LaneSpec:
    """The settings that all lanes of a loader share."""

    iterable: bool
    batch_size: int | None
    """Iterables: samples a batch; ``None`` without automatic batching."""
    drop_last: bool
    automatic: bool
    """A batch is made of several samples."""
    collate: Callable[[Any], Any]
    init: Callable[[int], None] | None
    lanes: int
    seed: int
    keeps: bool
    """Lifetime ``run``: the lanes' datasets live on from epoch to epoch."""
    interval: int
    """Iterables: the lane's batches between two snapshots. 0: only those that states need."""
    replay_check: Callable[[Any], Any] | None = None
    """Iterables: a value by which a replay knows a batch's samples again."""
    pipes: PipeSettings | None = None
    """Data pipes: how lanes share and seed them."""
    seed_streams: bool = True
    """Lanes seed the global random streams. In threads they do not: all threads share them."""
    isolate_streams: bool = True
    """Without workers: restore the caller's random streams after each task."""
    single_thread: bool = True
    """Run users' code with one intra-op thread."""
    rank: int = 0
    world: int = 1
    """Lanes that are dealt to ranks: of ``world`` ranks, the one to which these belong."""

    def number(self, lane: int) -> int:
        """Return a lane's number in the plan; within a rank they are counted from 0.

        A map-style batch's number in the epoch follows in the same way from its number within the
        rank (RANK-12).
        """
        return self.rank + lane * self.world

    def shares(self, dataset: object) -> bool:
        """Tell whether lanes in one process may use one dataset object.

        Without state and without a ``worker_init_fn`` to change it, a map-style dataset's
        values do not depend on the lane.
        """
        changed = self.iterable or self.init is not None or self.pipes is not None
        return not changed and not is_stateful(dataset)


class Lane:
    """One lane in one epoch.

    ``open`` is the only place that knows in which order users' code runs at a lane's start.
    """

    def __init__(self, spec: LaneSpec, number: int, dataset: Any, epoch: int) -> None:
        self.spec = spec
        self.number = number
        self.dataset = dataset
        self.epoch = epoch
        self._pass = Pass(dataset, self._iterate, self._iterate_again)
        self._ordinal = 0
        """Iterables: the batches that this lane has yielded."""
        self._ended = False
        self._stated = False
        """Whether the dataset has told its state within this pass."""
        self._content = DIGEST_START
        """The digest of what ``replay_check`` said of the batches since the latest snapshot."""
        position = (number,) if spec.keeps else (epoch, number)
        self._seeds = derive_words(spec.seed, "worker", *position)
        self._collate = _torch.unshared(spec.collate)
        self._info = (
            _torch.make_info(number, spec.lanes, self._seeds.torch, dataset) if spec.lanes else None
        )

    @property
    def rests(self) -> bool:
        """Whether the dataset object was given a state between two passes, and not drawn from."""
        return self._pass.state in ("resting", "loaded")

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

        ``None`` continues with the object as it is. ``rested``: the object was given the state
        of an epoch's end and not iterated since.

        Raises:
            ReplayMismatchError: the lane ends before all that it had delivered, or gives a batch
                in place of an error.
            Exception: a replayed batch raised an error that the saved run had not raised.
        """
        if entry is None:
            if self.spec.iterable:
                self._pass.begin(loaded=rested)
            return
        self.seed_start()
        unused = entry.ended and not self.spec.keeps
        if "dataset" in entry.stated and not unused:
            self.dataset.load_state_dict(thaw(entry.dataset))
        if not self.spec.iterable:
            return
        unsaved = entry.replay > 0 or entry.ordinal < 0
        if entry.ended and not (unsaved and self.spec.keeps and is_stateful(self.dataset)):
            self._ended = True
            self._pass.rest()
            return
        self._pass.begin(loaded=entry.ordinal <= 0 and "dataset" in entry.stated)
        if "iterator" in entry.stated:
            path = f"$.lanes.entries[{self.number // self.spec.world}].iterator"
            self.seed_start()  # iter() has drawn meanwhile
            self._pass.load_iterator(entry.iterator, path)
        if entry.ordinal < 0:
            self._pass.leave(entry.left, self._draw_unseen, entry.errors)
            self._pass.begin()
        self._ordinal = entry.cut
        self._stated = entry.cut > 0
        self._replay(entry.replay, {number - entry.left for number in entry.errors})
        if self.spec.replay_check is not None and entry.content not in (None, self._content):
            raise ReplayMismatchError(
                f"lane {self.number} gave other samples in the {entry.replay} batches that were "
                "replayed than before the state was taken, as replay_check tells; give the dataset "
                "the data and the settings that it had, or a state_dict"
            )
        if entry.ended and not self._ended:
            self._meet_end()

    def fetch(self, task: Fetch) -> Reply:
        """Run one task; an error in users' code is its outcome."""
        return self._fetch_iterable(task) if self.spec.iterable else self._fetch_map(task)

    def finish(self, task: Finish) -> Reply:
        """Answer with the dataset's state at the epoch's end."""
        return Reply(task.iteration, task.slot, Done(), self.report())

    def report(self, *, inside: bool = False) -> Snapshot | None:
        """Return the dataset's state between two epochs; ``inside``: at a pass's beginning."""
        return self._take_snapshot(inside=inside)

    # Seeds

    def seed_start(self) -> None:
        """Seed the streams for the lane's start: loads of states, and ``iter`` (RNG-13)."""
        self._seed(derive_words(self.spec.seed, "lane", self.epoch, self.number))

    def _seed(self, seeds: BatchSeeds) -> None:
        if self.spec.seed_streams:
            streams.seed(seeds)

    def _batch(self, index: int) -> BatchScope:
        """Seed the streams for batch ``index``; return the scope in which it is made."""
        if self.spec.seed_streams:
            streams.seed(self._words(index))
        return self._scope(index)

    def _seeded(self, index: int, place: int, purpose: str, *numbers: int) -> BatchScope:
        """Under ranks: seed the streams for a part of batch ``index``; return its scope."""
        seeds = derive_words(self.spec.seed, purpose, self.epoch, *numbers)
        self._seed(seeds)
        return BatchScope(lambda: BatchInfo(self.epoch, index, self.number, seeds.private, place))

    def _scope(self, index: int) -> BatchScope:
        return BatchScope(
            lambda: BatchInfo(self.epoch, index, self.number, self._words(index).private)
        )

    def _words(self, index: int) -> BatchSeeds:
        """Return a batch's seeds by its index in the epoch, or in the lane of an iterable."""
        if self.spec.iterable:
            return derive_words(self.spec.seed, "batch.iterable", self.epoch, self.number, index)
        return derive_words(self.spec.seed, "batch.map", self.epoch, index)

    # Iterables

    def _iterate(self) -> Iterator[Any]:
        self.seed_start()
        if self.spec.pipes is not None:
            self.spec.pipes.seed(self.dataset, self.epoch)
        return iter(self.dataset)

    def _iterate_again(self) -> Iterator[Any]:
        """Restart the dataset's pass within a batch, and the batch with it."""
        with BatchScope(None):
            iterator = self._iterate()
        self._batch(self._ordinal)
        renew()
        return iterator

    def _draw_unseen(self, number: int) -> None:
        with self._scope(number):  # the batch's index in the pass before is not known
            self._collect()

    def _replay(self, count: int, raised: Collection[int]) -> None:
        """Make ``count`` batches and drop them; those in ``raised`` ended in an error before."""
        for done in range(count):
            try:
                with self._batch(self._ordinal):
                    samples, _, self._ended = self._collect()
            except StopIteration:
                raise ReplayMismatchError(
                    f"lane {self.number} ended after {done} of {count} batches to replay: its "
                    "dataset gives less than before the state was taken"
                ) from None
            except Exception:
                if done not in raised:
                    raise
                self._ended = False  # the interrupted run already raised this error
                self._note(None)
            else:
                if done in raised:
                    raise _missing_error(self._ordinal, self.number)
                with suppress(Exception):  # the interrupted run has raised it
                    self._note(samples)
            self._ordinal += 1

    def _meet_end(self) -> None:
        """Let a lane of which nothing is left meet its end, as it did before the state."""
        try:
            with self._batch(self._ordinal):
                self._collect()
        except StopIteration:
            self._ended = True
            return
        raise ReplayMismatchError(
            f"lane {self.number} had ended after {self._ordinal} batches when the state was "
            "taken, and gives one more: its dataset gives more than before"
        )

    def _collect(self) -> tuple[Any, int, bool]:
        """Return the next samples, their number, and whether they were the last.

        Raises:
            StopIteration: there are none left.
        """
        if self.spec.batch_size is None:
            return next(self._pass), 1, False
        samples: list[Any] = []
        try:
            while len(samples) < self.spec.batch_size:
                samples.append(next(self._pass))
        except StopIteration:
            if not samples or self.spec.drop_last:
                raise
            return samples, len(samples), True
        return samples, len(samples), False

    def _fetch_iterable(self, task: Fetch) -> Reply:
        if self._ended:
            return Reply(task.iteration, task.slot, Ended())
        with self._batch(self._ordinal):
            outcome = self._produce()
        if not isinstance(outcome, Ended):
            self._ordinal += 1
        snapshot, content = self._snapshot_if_due(outcome), self._content
        if snapshot is not None and snapshot.trouble is None:
            self._content = DIGEST_START
        known = None if self.spec.replay_check is None else content
        return Reply(task.iteration, task.slot, outcome, snapshot, content=known)

    def _produce(self) -> Outcome:
        try:
            samples, count, self._ended = self._collect()
        except StopIteration:
            self._ended = True
            return Ended()
        except Exception as error:
            self._note(None)
            return Failure(error, fetching=True)
        try:
            self._note(samples)
            return Batch(_guarded(self._collate, samples), count, self._ended)
        except Exception as error:
            return Failure(error)

    def _note(self, samples: Any) -> None:
        """Add a batch to the content: its samples, or None for one in which the dataset raised."""
        check, value = self.spec.replay_check, None
        if check is None:
            return
        try:
            value = None if samples is None else _guarded(check, samples)
        finally:
            self._content = chain_digest(self._content, value)

    def _snapshot_if_due(self, outcome: Outcome) -> Snapshot | None:
        interval = self.spec.interval
        # After an error a replay might not meet it again: a snapshot keeps replays from it.
        failed = isinstance(outcome, Failure) and outcome.fetching
        due = interval > 0 and (self._ended or failed or self._ordinal % interval == 0)
        # A dataset that lives on is snapshotted once in each pass even if snapshots are off:
        # no later epoch could be restored without that.
        vital = self.spec.keeps and (self._ended or not self._stated)
        if not due and not (vital and is_stateful(self.dataset)):
            return None
        snapshot = self._take_snapshot(inside=not self._ended)
        self._stated = self._stated or (snapshot is not None and snapshot.trouble is None)
        return snapshot

    def _take_snapshot(self, *, inside: bool = False) -> Snapshot | None:
        """Return the dataset's state and, ``inside`` a pass, its iterator's."""
        objects = {"dataset": self.dataset}
        try:
            states = self._pass.states(objects, "iterator") if inside else freeze_states(objects)
        except Exception as error:
            return Snapshot(trouble=f"{type(error).__qualname__}: {error}")
        return Snapshot(states.get("dataset"), states.get("iterator")) if states else None

    # Map-style datasets

    def _fetch_map(self, task: Fetch) -> Reply:
        if task.place is None:
            with self._batch(self.spec.number(task.number)):
                outcome = self._look_up(task, self._get, self._collate)
        else:
            outcome = self._look_up_shared(task, task.place)
        snapshot = self._take_snapshot() if task.snapshot else None
        return Reply(task.iteration, task.slot, outcome, snapshot)

    def _look_up_shared(self, task: Fetch, place: int) -> Outcome:
        """Make a rank's share of a batch: each sample under seeds of its own (SEED-8)."""

        def get(keys: Any) -> Any:
            samples = []
            for at, key in enumerate(keys, place):
                with self._seeded(task.number, at, "sample", at):
                    samples.append(self.dataset[key])
            return samples

        def collate(samples: Any) -> Any:
            with self._seeded(task.number, place, "share", place, len(samples)):
                return self._collate(samples)

        return self._look_up(task, get, collate)

    def _look_up(
        self, task: Fetch, get: Callable[[Any], Any], collate: Callable[[Any], Any]
    ) -> Outcome:
        try:
            samples = _guarded(get, task.keys)
        except Exception as error:
            return Done() if task.raises else Failure(error, fetching=True)
        if task.raises:
            return Failure(_missing_error(self.spec.number(task.number), self.number))
        if not task.ship:
            return Done()
        try:
            return Batch(_guarded(collate, samples), 0)
        except Exception as error:
            return Failure(error)

    def _get(self, keys: Any) -> Any:
        if not self.spec.automatic:
            return self.dataset[keys]
        several = getattr(self.dataset, "__getitems__", None)
        return several(keys) if several else [self.dataset[key] for key in keys]


def _missing_error(batch: int, lane: int) -> ReplayMismatchError:
    return ReplayMismatchError(
        f"batch {batch} (lane {lane}) raised an error before the state was taken, and raises none "
        "in the replay: what follows cannot be the same; give the dataset or its iterator a "
        "state_dict, so that no replay crosses an error"
    )


def _guarded(function: Callable[[Any], Any], argument: Any) -> Any:
    """Call ``function``; a StopIteration that it lets out must not end the epoch (FAULT-3)."""
    try:
        return function(argument)
    except StopIteration as error:
        raise RuntimeError(
            "the dataset, collate_fn or replay_check raised StopIteration"
        ) from error
