"""Good loaders that make unusual choices where the specification leaves the choice open."""

from __future__ import annotations

import copy
import hashlib
import logging
import pickle
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import base
import numpy
import overtaking
import simple


class AnotherShuffle(simple.Loader):
    """Shuffles by sorting digests."""

    def indices(self, epoch: int) -> list[int]:
        def key(i: int) -> bytes:
            return hashlib.sha256(f"{self.seed} {epoch} {i}".encode()).digest()

        indices = list(range(len(self.data)))
        return sorted(indices, key=key) if self.shuffle else indices


class Backwards(simple.Loader):
    """Delivers unshuffled data from its end, the incomplete batch first."""

    def order(self, epoch: int) -> list[list[int]]:
        return super().order(epoch)[::-1]


class UnevenBatches(simple.Loader):
    """Has its own idea of a batch: one sample, then the rest of what makes two."""

    def order(self, epoch: int) -> list[list[int]]:
        return [part for batch in super().order(epoch) for part in (batch[:1], batch[1:]) if part]


class Shares(simple.Loader):
    """Each worker has a share in one piece; a state goes on under its own worker count alone."""

    def order(self, epoch: int) -> list[list[int]]:
        batches = super().order(epoch)
        lanes = max(1, self.workers)
        share = -(-len(batches) // lanes)
        pieces = [batches[i * share : (i + 1) * share] for i in range(lanes)]
        return [piece[k] for k in range(share) for piece in pieces if k < len(piece)]

    def plan(self) -> dict[str, Any]:
        return {**super().plan(), "workers": self.workers}


class Regroups(simple.Loader):
    """Its order follows the worker count; under another one the saved epoch is completed first."""

    rest: list[list[int]] | None = None

    def indices(self, epoch: int) -> list[int]:
        indices = super().indices(epoch)
        return indices[self.workers :] + indices[: self.workers]

    def order(self, epoch: int) -> list[list[int]]:
        return super().order(epoch) if self.rest is None else self.rest

    def state(self) -> dict[str, Any]:
        return {**super().state(), "workers": self.workers, "rest": self.rest}

    def next_epoch(self) -> None:
        super().next_epoch()
        self.rest = None

    def load(self, state: Any) -> None:
        self.check(state)
        state = copy.deepcopy(state)
        rest = state["rest"]
        if rest is None and state["workers"] != self.workers and self.random_access:
            here, self.workers = self.workers, state["workers"]
            self.rest = None
            rest = super().order(state["epoch"])
            self.workers = here
        super().load(state)
        self.rest = rest


class LazyWorkers(simple.Loader):
    """Starts a worker for each batch, when the batch is asked for."""

    def pooled(self, tasks: list[Any]) -> Iterator[simple.Batch]:
        for task in tasks:
            pool = simple.Pool(self, 1)
            try:
                pool.send(0, task)
                yield pool.receive(0)
            finally:
                pool.close()


class Arrays(simple.Loader):
    """Delivers arrays of floats: sample 2 is 2.0."""

    def fetch(self, epoch: int, k: int, indices: list[int]) -> Any:
        return numpy.asarray(super().fetch(epoch, k, indices), dtype=numpy.float64)


class AnyContainer(simple.Loader):
    """Delivers whatever comes to hand: a list, a tuple, an iterator, an array."""

    def fetch(self, epoch: int, k: int, indices: list[int]) -> Any:
        rows = super().fetch(epoch, k, indices)
        return (rows, tuple(rows), map(tuple, rows), numpy.asarray(rows))[k % 4]


class EmptyAfterEnd(simple.Loader):
    """A state from an epoch's end resumes with an empty epoch, then comes the next."""

    ended = empty = False

    def next_epoch(self) -> None:
        super().next_epoch()
        self.ended, self.empty = True, False

    def advance(self) -> None:
        super().advance()
        self.ended = False

    def state(self) -> dict[str, Any]:
        return {**super().state(), "ended": self.ended}

    def load(self, state: Any) -> None:
        super().load(state)
        self.ended = self.empty = state["ended"]

    def __iter__(self) -> Any:
        if not self.empty:
            return super().__iter__()
        self.empty = False
        return iter(())


class EndIsTheNextStart(simple.Loader):
    """With the last batch of an epoch the next one begins: no end of an epoch is ever saved."""

    def state(self) -> dict[str, Any]:
        state = super().state()
        if self.random_access and self.batches and self.batches >= len(self.order(self.epoch)):
            state.update(epoch=self.epoch + 1, batches=0, snapshot=None)
        return state


class LoadMovesTheLive(simple.Loader):
    """A load takes effect on the iterator that is live."""

    def load(self, state: Any) -> None:
        live, self.live = self.live, None
        try:
            super().load(state)
        finally:
            self.live = live
        if live is not None and live.over is None:
            if hasattr(live.source, "close"):
                live.source.close()
            live.source = None
            # What comes now is the loaded epoch's rest, and an iteration after it the next one.
            self.moved = False


class LoadsForTheNext(simple.Loader):
    """A load applies to the next iterator, as documented; a live one goes on."""

    pending: Any = None

    def load(self, state: Any) -> None:
        self.check(state)
        self.pending = copy.deepcopy(state)
        if self.live is None or self.live.over is not None:
            self.settle()

    def settle(self) -> None:
        if self.pending is not None:
            pending, self.pending = self.pending, None
            super().load(pending)

    def __iter__(self) -> simple.Epoch:
        self.settle()
        return super().__iter__()

    def state(self) -> dict[str, Any]:
        return copy.deepcopy(self.pending) or super().state()


class RefusesWhileLive(simple.Loader):
    """A load is refused while an iterator is live; breaking off makes room for one."""

    def load(self, state: Any) -> None:
        if self.live is not None and self.live.over is None and self.moved:
            raise RuntimeError("an epoch is being iterated: end it before a state is loaded")
        super().load(state)


class Opaque:
    """A state that shows nothing and cannot be changed."""

    __slots__ = ("_data",)

    def __init__(self, data: bytes) -> None:
        self._data = data

    def __reduce__(self) -> Any:
        return Opaque, (self._data,)


class StampedStates(simple.Loader):
    """No two of its states are equal: each has a name."""

    def state(self) -> dict[str, Any]:
        return {**super().state(), "name": uuid.uuid4().hex}


class KeepsThreads(simple.Loader):
    """Fetches in a thread that it keeps from epoch to epoch."""

    executor: ThreadPoolExecutor | None = None

    def fetch(self, epoch: int, k: int, indices: list[int]) -> simple.Batch:
        if self.executor is None:
            self.executor = ThreadPoolExecutor(1)
        return self.executor.submit(super().fetch, epoch, k, indices).result()

    def close(self) -> None:
        super().close()
        if self.executor is not None:
            self.executor.shutdown()


class Talks(simple.Loader):
    """Prints and logs what it does."""

    def advance(self) -> None:
        super().advance()
        print(f'{{"id": {self.batches}}}', flush=True)
        logging.getLogger("talks").warning("batch %d of epoch %d", self.batches, self.epoch)


class OpaqueStates(base.Session):
    """Its states are objects of a class of its own."""

    def state(self) -> Any:
        return Opaque(pickle.dumps(super().state()))

    def load(self, state: Any) -> None:
        if not isinstance(state, Opaque):
            raise TypeError(f"not a state of this loader: {state!r}")
        super().load(pickle.loads(state._data))


class ByteStates(base.Session):
    """Its states are bytes, sealed by a digest."""

    def state(self) -> Any:
        data = pickle.dumps(super().state())
        return hashlib.sha256(data).digest() + data

    def load(self, state: Any) -> None:
        if not isinstance(state, bytes) or hashlib.sha256(state[32:]).digest() != state[:32]:
            raise ValueError(f"not a state of this loader: {state!r:.40}")
        super().load(pickle.loads(state[32:]))


class LooksWhenIterated(base.Session):
    """A state is looked at, and refused, when the next epoch is begun."""

    pending: tuple[Any] | None = None

    def load(self, state: Any) -> None:
        self.loader.stop()
        self.pending = (copy.deepcopy(state),)

    def settle(self) -> None:
        if self.pending is not None:
            (state,), self.pending = self.pending, None
            super().load(state)

    def epoch(self) -> Any:
        self.settle()
        return super().epoch()

    def state(self) -> Any:
        self.settle()
        return super().state()


class SavesBetweenEpochs(base.Session):
    """Can be saved between two epochs alone, and says so inside."""

    def state(self) -> Any:
        if self.loader.moved:
            raise RuntimeError("inside an epoch there is nothing to save")
        return super().state()


def good(
    loader: type[simple.Loader] = simple.Loader,
    session: type[base.Session] = base.Session,
    **changes: Any,
) -> type[base.Adapter]:
    """Return the adapter of a good loader; ``changes`` says what it does not offer."""
    # Trees, samplers and epochs set from outside do not touch the choices that differ here.
    return base.mutant(loader, session, **{"extras": ("streams", "iterator state"), **changes})


MAP = ("map",)
another_shuffle = good(AnotherShuffle, kinds=MAP)
backwards = good(Backwards, kinds=MAP, tails=("keep", "drop"))
uneven_batches = good(UnevenBatches, kinds=MAP, tails=("keep",))
shares = good(Shares, kinds=MAP, fixed_plan=())
regroups = good(Regroups, kinds=MAP, fixed_plan=())
lazy_workers = good(LazyWorkers, kinds=MAP)
arrays = good(Arrays, kinds=MAP)
any_container = good(AnyContainer, kinds=MAP)
empty_after_end = good(EmptyAfterEnd)
end_is_the_next_start = good(EndIsTheNextStart)
load_moves_the_live = good(LoadMovesTheLive, live_load="applies")
loads_for_the_next = good(LoadsForTheNext, live_load="next")
refuses_while_live = good(RefusesWhileLive, kinds=MAP)
looks_when_iterated = good(session=LooksWhenIterated)
opaque_states = good(session=OpaqueStates, codecs=("pickle",))
byte_states = good(session=ByteStates, codecs=("bytes", "pickle"))
stamped_states = good(StampedStates, kinds=MAP)
keeps_threads = good(KeepsThreads, kinds=MAP)
talks = good(Talks, kinds=MAP)
overtakes = good(overtaking.Loader, kinds=MAP, workers=(0,), extras=("streams", "unordered states"))
saves_between_epochs = good(session=SavesBetweenEpochs, saves=("end",))
