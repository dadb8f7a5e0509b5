"""A small loader without a known fault, in plain Python: the mutants beside it are edits of it.

Random access inline or in forked workers; streams inline. Its position is two numbers, and
for a Stateful stream the newest snapshot of the dataset. Every batch is fetched under its own
seeds. It is short so that an edit of a few lines can make any lie.
"""

from __future__ import annotations

import contextlib
import copy
import itertools
import multiprocessing
import random
from collections.abc import Iterator
from typing import Any

import numpy

FORMAT = "simple/1"
Batch = list[list[float]]


class StateError(ValueError):
    """A state that this loader does not resume from."""


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
        workers: int = 0,
        prefetch: int = 2,
        interval: int = 1,
    ) -> None:
        self.data = data
        self.batch_size, self.shuffle, self.seed = batch_size, shuffle, seed
        self.drop_last, self.workers = drop_last, workers
        self.prefetch, self.interval = prefetch, interval
        self.epoch = self.batches = 0  # the position: of the last batch delivered
        self.snapshot: dict[str, Any] | None = None
        self.moved = False  # whether the live epoch has delivered a batch
        self.live: Epoch | None = None

    @property
    def stateful(self) -> bool:
        return hasattr(self.data, "state_dict")

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
        """Count a batch that is delivered now."""
        self.batches += 1
        self.moved = True
        if self.stateful and self.batches % self.interval == 0:
            self.snapshot = {"at": self.batches, "state": copy.deepcopy(self.data.state_dict())}

    def next_epoch(self) -> None:
        self.epoch, self.batches, self.snapshot, self.moved = self.epoch + 1, 0, None, False

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
        }

    def state(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "plan": self.plan(),
            "epoch": self.epoch,
            "batches": self.batches,
            "snapshot": copy.deepcopy(self.snapshot),
        }

    def load(self, state: Any) -> None:
        self.check(state)
        state = copy.deepcopy(state)
        self.stop()
        self.epoch, self.batches = state["epoch"], state["batches"]
        self.snapshot, self.moved = state["snapshot"], False

    def check(self, state: Any) -> None:
        """Raise StateError unless ``state`` is one of this loader, under this plan."""
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
        snapshot = state["snapshot"]
        whole = isinstance(snapshot, dict) and set(snapshot) == {"at", "state"}
        if snapshot is not None and not (whole and snapshot["at"] <= state["batches"]):
            raise StateError(f"not a snapshot: {snapshot!r}")

    # What is delivered

    def fetches(self) -> Iterator[Batch]:
        """Make the batches of this epoch from the position on."""
        if not self.random_access:
            return self.stream()
        batches = self.order(self.epoch)
        tasks = [(self.epoch, k, batches[k]) for k in range(self.batches, len(batches))]
        return self.pooled(tasks) if self.workers else (self.fetch(*task) for task in tasks)

    def indices(self, epoch: int) -> list[int]:
        """Return the order of an epoch."""
        indices = list(range(len(self.data)))
        if self.shuffle:
            random.Random(f"{self.seed}/{epoch}").shuffle(indices)
        return indices

    def order(self, epoch: int) -> list[list[int]]:
        """Return the indices of an epoch's batches."""
        indices, size = self.indices(epoch), self.batch_size
        batches = [indices[k : k + size] for k in range(0, len(indices), size)]
        return [b for b in batches if len(b) == size or not self.drop_last]

    def fetch(self, epoch: int, k: int, indices: list[int]) -> Batch:
        with self.seeded(epoch, k):
            return [self.sample(epoch, i) for i in indices]

    def sample(self, epoch: int, i: int) -> list[float]:
        try:
            return list(self.data.row(i, self.own_source(epoch, i)))
        except StopIteration as error:
            raise RuntimeError(f"sample {i} raised StopIteration") from error

    def own_source(self, epoch: int, i: int) -> Any:
        """Return what a sample draws from by this loader's documentation."""
        return random.Random(f"{self.seed}/{epoch}/{i}").random

    @contextlib.contextmanager
    def seeded(self, epoch: int, k: int) -> Iterator[None]:
        """Seed the global streams for a batch, and put the caller's back afterwards."""
        kept = random.getstate(), numpy.random.get_state()
        source = random.Random(f"{self.seed}/{epoch}/batch {k}")
        random.seed(source.getrandbits(64))
        numpy.random.seed(source.getrandbits(32))
        try:
            yield
        finally:
            random.setstate(kept[0])
            numpy.random.set_state(kept[1])

    def stream(self) -> Iterator[Batch]:
        """Make the batches of a stream: from its snapshot on, what was delivered is skipped."""
        done = self.snapshot["at"] if self.snapshot else 0
        if self.snapshot:
            self.data.load_state_dict(copy.deepcopy(self.snapshot["state"]))
        start, rows = self.batches, iter(self.data)
        for k in itertools.count(done):
            with self.seeded(self.epoch, k):
                batch = list(itertools.islice(rows, self.batch_size))
            if not batch or (self.drop_last and len(batch) < self.batch_size):
                return
            if k >= start:
                yield batch

    def pool(self) -> Pool:
        return Pool(self, self.workers)

    def pooled(self, tasks: list[Any]) -> Iterator[Batch]:
        """Have forked workers fetch the tasks, in turn and ahead."""
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
            batch = next(self.source)
        except StopIteration:
            self.over = StopIteration()
            self.loader.next_epoch()
            raise
        except Exception as error:
            self.over = error
            raise
        self.loader.advance()
        return batch

    def stop(self) -> None:
        if self.over is None:
            self.over = RuntimeError("this iterator ended: a state was loaded or a newer one begun")
        if hasattr(self.source, "close"):
            self.source.close()


class Pool:
    """Forked workers, a pipe each."""

    def __init__(self, loader: Loader, count: int) -> None:
        context = multiprocessing.get_context("fork")
        self.pipes, self.processes = [], []
        for _ in range(count):
            here, there = context.Pipe()
            process = context.Process(target=work, args=(loader, there), daemon=True)
            process.start()
            there.close()  # so that the death of the worker ends the pipe
            self.pipes.append(here)
            self.processes.append(process)

    def send(self, worker: int, task: Any) -> None:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # receive will tell
            self.pipes[worker].send(task)

    def receive(self, worker: int) -> Batch:
        try:
            failed, value = self.pipes[worker].recv()
        except (EOFError, ConnectionResetError):
            process = self.processes[worker]
            process.join()
            raise RuntimeError(
                f"worker {worker} (pid {process.pid}) died: exit code {process.exitcode}"
            ) from None
        if failed:
            raise value
        return list(value)

    def close(self) -> None:
        for pipe in self.pipes:
            pipe.close()
        for process in self.processes:
            process.terminate()
            process.join()


def work(loader: Loader, pipe: Any) -> None:
    """Fetch what is asked for until the pipe ends."""
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            task = pipe.recv()
            try:
                answer = (False, loader.fetch(*task))
            except Exception as error:
                answer = (True, error)
            pipe.send(answer)
