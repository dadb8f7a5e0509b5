"""A small loader without a known fault, in plain Python; the mutants beside it are edits of it.

Random access inline or in forked workers; streams and Stateful datasets inline. Its position
is two numbers, and for what is Stateful the newest snapshot. Every epoch begins with a fresh
copy of the dataset and of the user's sampler, and every batch is fetched under its own seeds.
It is short so that an edit of a few lines can make any lie.
"""

from __future__ import annotations

import contextlib
import copy
import itertools
import multiprocessing
import pickle
import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy

FORMAT = "simple/1"
Batch = list[list[float]]
Answer = tuple["Exception | None", Batch]
"""The result of a batch: the dataset's error, or None and the rows."""


class StateError(ValueError):
    """Raised for a state that this loader refuses."""


class Loader:
    """Delivers batches of rows, epoch by epoch; ``state`` and ``load`` carry its position."""

    def __init__(
        self,
        data: Any,
        *,
        batch_size: int,
        shuffle: bool = False,
        seed: int = 0,
        drop_last: bool = False,
        rollover: bool = False,
        sampler: Any = None,
        workers: int = 0,
        restarts: int = 0,
        prefetch: int = 2,
        interval: int = 1,
        in_order: bool = True,
        collate: Callable[[Batch], Batch] = list,
    ) -> None:
        self.data, self.sampler = data, sampler
        self.batch_size, self.shuffle, self.seed = batch_size, shuffle, seed
        self.drop_last, self.rollover = drop_last, rollover
        self.workers, self.restarts = workers, restarts
        self.prefetch, self.interval = prefetch, interval
        self.collate = collate
        self.in_order = in_order  # a loader may keep the order even if this is False
        self.epoch = self.batches = 0  # the position of the last batch delivered
        self.snapshot: dict[str, Any] | None = None
        self.raised: list[int] = []  # the batches since the snapshot that ended in an error
        self.moved = False  # whether the live epoch has delivered a batch
        self.named = 0  # the caller wants no earlier epoch than this one
        self.live: Epoch | None = None
        self.copy: Any = None  # this epoch's copy of the dataset
        self.rows: Any = None  # a stream's iterator

    @property
    def random_access(self) -> bool:
        return hasattr(self.data, "__len__")

    # Iterating

    def __iter__(self) -> Epoch:
        if self.moved:
            self.next_epoch()
        self.stop()
        self.live = Epoch(self)
        return self.live

    def advance(self) -> None:
        """Count a batch that is delivered, or whose error is raised."""
        self.batches += 1
        self.moved = True
        if self.batches % self.interval == 0:
            states = self.capture()
            if states:
                self.snapshot, self.raised = {"at": self.batches, "states": states}, []

    def next_epoch(self) -> None:
        self.epoch, self.batches = max(self.epoch + 1, self.named), 0
        self.snapshot, self.moved, self.raised = None, False, []

    def name_epoch(self, epoch: int) -> None:
        """Let ``epoch`` come next."""
        self.named = epoch
        if not self.batches:
            self.epoch = max(self.epoch, epoch)

    def stop(self) -> None:
        """End the live epoch, and its workers."""
        if self.live is not None:
            self.live.stop()
        self.live = None

    close = stop

    # The state

    def plan(self) -> dict[str, Any]:
        return {
            "length": len(self.data) if self.random_access else None,
            "batch_size": self.batch_size,
            "shuffle": self.shuffle,
            "seed": self.seed,
            "drop_last": self.drop_last,
            "rollover": self.rollover,
            "sampler": type(self.sampler).__name__,
            "world": getattr(self.sampler, "world", 1),
        }

    def state(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "epoch": self.epoch,
            "batches": self.batches,
            "snapshot": copy.deepcopy(self.snapshot),
            "raised": list(self.raised),
            "plan": self.plan(),
        }

    def load(self, state: Any) -> None:
        self.check(state)
        state = copy.deepcopy(state)
        self.stop()
        self.epoch, self.batches = state["epoch"], state["batches"]
        self.snapshot, self.moved = state["snapshot"], False
        self.raised, self.named = state["raised"], 0

    def check(self, state: Any) -> None:
        """Raise StateError unless ``state`` belongs to this loader and this plan."""
        if not isinstance(state, dict) or set(state) != set(self.state()):
            raise StateError(f"not a state of this loader: {state!r}")
        if state["format"] != FORMAT or not isinstance(state["plan"], dict):
            raise StateError(f"not of format {FORMAT}: {state['format']!r}")
        here = self.plan()
        other = [k for k in here if k not in state["plan"] or state["plan"][k] != here[k]]
        if other:
            raise StateError(f"of another plan: {', '.join(other)} differ")
        for name in ("epoch", "batches"):
            if type(state[name]) is not int or state[name] < 0:
                raise StateError(f"{name} is no count: {state[name]!r}")
        if type(state["raised"]) is not list or {*map(type, state["raised"])} - {int}:
            raise StateError(f"no list of batches: {state['raised']!r}")
        snapshot = state["snapshot"]
        whole = isinstance(snapshot, dict) and set(snapshot) == {"at", "states"}
        if snapshot is not None and not (whole and snapshot["at"] <= state["batches"]):
            raise StateError(f"not a snapshot: {snapshot!r}")
        if snapshot is not None:
            states = snapshot["states"]
            parts = {"dataset"} if hasattr(self.data, "state_dict") else set()
            parts |= {"iterator"} if self.shuffle and not self.random_access else set()
            if not (isinstance(states, dict) and states and parts <= set(states)):
                raise StateError(f"a snapshot without its parts: {states!r}")

    # The dataset's own state

    def capture(self) -> dict[str, Any]:
        """Return the states of the dataset and of its iterator, if they have any."""
        parts = {"dataset": self.copy, "iterator": self.rows}
        if self.rows is self.copy:
            del parts["iterator"]
        return {
            name: copy.deepcopy(part.state_dict())
            for name, part in parts.items()
            if hasattr(part, "state_dict")
        }

    def restore(self) -> int:
        """Make this epoch's dataset; return how many batches it has delivered already."""
        self.copy, self.rows = copy.deepcopy(self.data), None
        states = copy.deepcopy(self.snapshot["states"]) if self.snapshot else {}
        # iter() restarts a dataset that is its own iterator, so its state is loaded afterwards.
        own = hasattr(self.copy, "__next__")
        if "dataset" in states and not own:
            self.copy.load_state_dict(states["dataset"])
        if not self.random_access:
            self.rows = iter(self.copy)
            if self.shuffle:
                self.rows = self.shuffled(self.rows)
        if "dataset" in states and own:
            self.copy.load_state_dict(states["dataset"])
        if "iterator" in states:
            self.rows.load_state_dict(states["iterator"])
        if self.snapshot:
            return int(self.snapshot["at"])
        stateless = self.random_access and not hasattr(self.copy, "state_dict")
        return self.batches if stateless else 0

    # What is delivered

    def fetches(self) -> Iterator[Answer]:
        """Make the batches of this epoch from the position on."""
        done = self.restore()
        source = self.access(done) if self.random_access else self.stream(done)
        for k in range(done, self.batches):
            error, _ = next(source, (None, []))
            if error is not None and k not in self.raised:
                raise error
            if error is None and k in self.raised and not self.random_access:
                # How much of the stream it had taken then is not known.
                raise RuntimeError(f"batch {k} raised an error before, and raises none now")
        return source

    def access(self, done: int) -> Iterator[Answer]:
        batches = self.order(self.epoch)
        tasks = [(self.epoch, k, batches[k]) for k in range(done, len(batches))]
        return self.pooled(tasks) if self.workers else (self.attempt(*task) for task in tasks)

    def indices(self, epoch: int) -> list[int]:
        """Return the order of an epoch; a sampler is iterated as often as in one run."""
        if self.sampler is not None:
            sampler = copy.deepcopy(self.sampler)
            return [list(map(copy.copy, sampler)) for _ in range(epoch + 1)][-1]
        indices = list(range(len(self.data)))
        if self.shuffle:
            random.Random(f"{self.seed}/{epoch}").shuffle(indices)
        return indices

    def order(self, epoch: int) -> list[list[int]]:
        """Return the indices of an epoch's batches."""
        indices, size = self.carried(epoch) + self.indices(epoch), self.batch_size
        if indices and isinstance(indices[0], (list, numpy.ndarray)):
            return indices
        batches = [indices[k : k + size] for k in range(0, len(indices), size)]
        return [b for b in batches if len(b) == size or not (self.drop_last or self.rollover)]

    def carried(self, epoch: int) -> list[int]:
        """Return the samples that the epoch before leaves over, if they roll over."""
        if not self.rollover or not epoch:
            return []
        before = self.carried(epoch - 1) + self.indices(epoch - 1)
        return before[len(before) // self.batch_size * self.batch_size :]

    def attempt(self, epoch: int, k: int, indices: list[int]) -> Answer:
        try:
            return None, self.fetch(epoch, k, indices)
        except Exception as error:
            return error, []

    def fetch(self, epoch: int, k: int, indices: list[int]) -> Batch:
        with self.seeded(epoch, k):
            return self.gathered([self.sample(epoch, i) for i in indices])

    def gathered(self, rows: Batch) -> Batch:
        try:
            return self.collate(rows)
        except StopIteration as error:
            raise RuntimeError("collate_fn raised StopIteration") from error

    def sample(self, epoch: int, i: int) -> list[float]:
        try:
            return self.copy.row(i, self.own_source(epoch, i))
        except StopIteration as error:
            raise RuntimeError(f"sample {i} raised StopIteration") from error

    def own_source(self, epoch: int, i: int) -> Any:
        """Return the random source that this loader documents for a sample."""
        return random.Random(f"{self.seed}/{epoch}/{i}").random

    @contextlib.contextmanager
    def seeded(self, epoch: int, k: int) -> Iterator[None]:
        """Seed the global streams for a batch, and restore the caller's afterwards."""
        kept = random.getstate(), numpy.random.get_state()
        source = random.Random(f"{self.seed}/{epoch}/batch {k}")
        random.seed(source.getrandbits(64))
        numpy.random.seed(source.getrandbits(32))
        try:
            yield
        finally:
            random.setstate(kept[0])
            numpy.random.set_state(kept[1])

    def stream(self, done: int) -> Iterator[Answer]:
        """Make the batches of a stream that has delivered ``done`` of them."""
        for k in itertools.count(done):
            error, batch = None, []
            try:
                with self.seeded(self.epoch, k):
                    # Calls of next() only: iter() would restart a dataset that is its own iterator.
                    rows = (next(self.rows, None) for _ in range(self.batch_size))
                    batch = self.gathered(
                        list(itertools.takewhile(lambda row: row is not None, rows))
                    )
            except Exception as raised:  # the dataset's iterator may go on
                error = raised
            if error is None and len(batch) < (self.batch_size if self.drop_last else 1):
                return
            yield error, batch

    def shuffled(self, rows: Iterator[Any]) -> Buffer:
        return Buffer(rows, f"{self.seed}/{self.epoch}")

    def pool(self) -> Pool:
        return Pool(self, self.workers)

    def pooled(self, tasks: list[Any]) -> Iterator[Answer]:
        """Let forked workers fetch the tasks ahead, in turn."""
        pool = self.pool()
        try:
            ahead = self.workers * self.prefetch
            for i, task in enumerate(tasks[:ahead]):
                pool.send(i % self.workers, task)
            for i in range(len(tasks)):
                yield pool.receive(i % self.workers)
                if i + ahead < len(tasks):
                    pool.send((i + ahead) % self.workers, tasks[i + ahead])
        finally:
            pool.close()


class Buffer:
    """Gives the rows of a stream out of a shuffle buffer of four, whose rows its state holds."""

    def __init__(self, rows: Iterator[Any], seed: str) -> None:
        self.rows, self.random = rows, random.Random(seed)
        self.kept: list[Any] = []

    def __iter__(self) -> Buffer:
        return self

    def __next__(self) -> Any:
        # Calls of next() only: iter() would restart a dataset that is its own iterator.
        while len(self.kept) < 4 and (row := next(self.rows, None)) is not None:
            self.kept.append(row)
        if not self.kept:
            raise StopIteration
        return self.kept.pop(self.random.randrange(len(self.kept)))

    def state_dict(self) -> Any:
        return {"kept": self.kept, "random": self.random.getstate()}

    def load_state_dict(self, state: Any) -> None:
        version, words, gauss = state["random"]
        self.random.setstate((version, tuple(words), gauss))
        self.kept = state["kept"]


class Epoch:
    """The iterator of one epoch."""

    def __init__(self, loader: Loader) -> None:
        self.loader = loader
        self.source: Any = None
        self.over: BaseException | None = None

    def __iter__(self) -> Epoch:
        return self

    def __next__(self) -> Batch:
        if self.over is not None:
            raise self.over
        if self.source is None:
            self.source = self.loader.fetches()
        try:
            error, batch = next(self.source)
        except StopIteration:
            self.over = StopIteration()
            self.loader.next_epoch()
            raise
        except Exception as stopped:
            self.over = stopped
            raise
        except KeyboardInterrupt:
            self.interrupted()
            raise
        if error is not None:
            self.loader.raised.append(self.loader.batches)
        self.loader.advance()
        if error is not None:
            raise error
        return list(batch)

    def interrupted(self) -> None:
        """Let the next batch begin where the last one delivered ended."""
        self.source = None

    def stop(self) -> None:
        if self.over is None:
            self.over = RuntimeError("this iterator ended: a state was loaded or a newer one begun")
        if hasattr(self.source, "close"):
            self.source.close()


class Pool:
    """Forked workers with a pipe each; dead ones are replaced as often as the loader allows."""

    def __init__(self, loader: Loader, count: int) -> None:
        self.loader, self.restarts = loader, loader.restarts
        self.pipes: dict[int, Any] = {}
        self.processes: dict[int, Any] = {}
        self.asked: dict[int, list[Any]] = {worker: [] for worker in range(count)}
        for worker in range(count):
            self.start(worker)

    def start(self, worker: int) -> None:
        context = multiprocessing.get_context("fork")
        here, there = context.Pipe()
        process = context.Process(target=work, args=(self.loader, there), daemon=True)
        process.start()
        there.close()  # so that the death of the worker ends the pipe
        self.pipes[worker], self.processes[worker] = here, process

    def send(self, worker: int, task: Any) -> None:
        self.asked[worker].append(task)
        self.hand(worker, task)

    def hand(self, worker: int, task: Any) -> None:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # receive() raises for it
            self.pipes[worker].send(task)

    def receive(self, worker: int) -> Answer:
        try:
            error, batch = self.pipes[worker].recv()
        except (EOFError, ConnectionResetError):
            process = self.processes[worker]
            process.join()
            if not self.restarts:
                raise RuntimeError(
                    f"worker {worker} (pid {process.pid}) died: exit code {process.exitcode}"
                ) from None
            self.restarts -= 1
            self.replace(worker)
            return self.receive(worker)
        self.asked[worker].pop(0)
        return error, batch

    def replace(self, worker: int) -> None:
        """Replace a dead worker, and send the new one the tasks that the dead one left."""
        self.pipes[worker].close()
        self.start(worker)
        for task in self.asked[worker]:
            self.hand(worker, task)

    def close(self) -> None:
        for pipe in self.pipes.values():
            pipe.close()
        for process in self.processes.values():
            process.terminate()
            process.join()


def work(loader: Loader, pipe: Any) -> None:
    """Fetch batches until the pipe ends."""
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            error, batch = loader.attempt(*pipe.recv())
            pipe.send((readable(error), batch))


def readable(error: Any) -> Any:
    """Return an error, or its words as another one if it cannot be unpickled."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error
