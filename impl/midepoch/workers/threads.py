"""Worker threads: a queue of tasks each, and one queue of replies. Batches are not copied.

Threads leave the process's settings alone: they neither seed nor read the global random streams,
and they do not set the number of intra-op threads. A thread cannot be killed from outside. If the
user's code does not return, closing the workers leaves its thread behind, with a warning.
"""

from __future__ import annotations

import os
import select
import threading
import time
import warnings
import weakref
from collections import deque
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

from midepoch import _torch, errors
from midepoch.lane.ambient import Ambient
from midepoch.lane.host import LaneDatasets, LaneHost
from midepoch.lane.lane import LaneSpec
from midepoch.lane.messages import Open, Opened, Reply, Snapshot, Task
from midepoch.stats import Tally
from midepoch.workers.deadline import Deadline
from midepoch.workers.losses import Losses

__all__ = ["ReplyQueue", "ThreadWorkers"]

GRACE = 5.0
"""Seconds that running tasks have to return when the workers are closed."""

_PROCESSES = 'use worker_type="process" and num_workers >= lanes: threads share their memory'


T = TypeVar("T")


class ReplyQueue(Generic[T]):
    """A queue from many threads to one, which is woken through a pipe.

    ``queue.SimpleQueue`` releases its lock while it still holds the interpreter's: the woken
    thread would sleep again at once, to wait for that. A write to a pipe releases it first.

    >>> replies = ReplyQueue()
    >>> replies.put(3)
    >>> replies.wake()
    >>> replies.take(), replies.take()
    (3, None)
    >>> replies.close()
    """

    def __init__(self) -> None:
        """Raises ``OSError`` if no file descriptors are left."""
        self._arrived: deque[T] = deque()
        self._waiting = False
        self._pipe: tuple[int, ...] = os.pipe()
        self._poll = select.poll()
        self._poll.register(self._pipe[0], select.POLLIN)

    def put(self, reply: T) -> None:
        """Add a reply; ``wake`` wakes the reader."""
        self._arrived.append(reply)

    def wake(self) -> None:
        """Wake the reader if it waits.

        This is not a part of ``put``, so that the caller can drop its reference to a batch first.
        """
        if self._waiting:
            self._waiting = False
            os.write(self._pipe[1], b"\0")

    def take(self) -> T | None:
        """Return the oldest reply, or ``None``."""
        return self._arrived.popleft() if self._arrived else None

    def wait(self, seconds: float | None) -> None:
        """Wait until something arrives, at most so long; may return early."""
        self._waiting = True  # before the check: a later ``put`` is followed by a ``wake``
        if not self._arrived and self._poll.poll(None if seconds is None else 1000 * seconds):
            os.read(self._pipe[0], 64)
        self._waiting = False

    def close(self) -> None:
        """Close the pipe; no thread may call ``put`` afterwards. May be called again."""
        pipe, self._pipe = self._pipe, ()
        for descriptor in pipe:
            os.close(descriptor)

    def __del__(self) -> None:
        with suppress(AttributeError):  # no pipe was available
            self.close()


@dataclass(frozen=True)
class _Crash:
    """An error that ended a thread in place of a reply."""

    error: BaseException


@dataclass(frozen=True)
class _Start:
    """Start an epoch under the caller's torch settings."""

    message: Open
    ambient: Ambient


_Question = _Start | Task
_Replies = ReplyQueue[tuple[int, Opened | Reply | _Crash]]


class _Worker:
    """One thread and its tasks in flight."""

    def __init__(self, number: int, spec: LaneSpec, dataset: Any, replies: _Replies) -> None:
        self.number = number
        self.datasets = LaneDatasets(spec, dataset, own=False, remedy=_PROCESSES)
        self.questions: SimpleQueue[_Question | None] = SimpleQueue()
        self.stopping = threading.Event()
        self.asked: deque[_Question] = deque()
        self.thread = threading.Thread(
            target=_serve,
            args=(number, LaneHost(spec, self.datasets), self.questions, replies, self.stopping),
            name=f"midepoch worker {number}",
            daemon=True,  # a task that never returns must not block the interpreter's exit
        )

    def ask(self, question: _Question) -> None:
        self.asked.append(question)
        self.questions.put(question)


class ThreadWorkers:
    """Runs lanes in ``count`` threads of this process; worker ``route % count`` runs a task.

    The settings that torch keeps for each thread (grad mode, autocast, default device) are those
    of the caller when it opens an epoch.
    """

    ahead = True

    def __init__(
        self,
        spec: LaneSpec,
        dataset: Any,
        *,
        count: int,
        depth: int,
        timeout: float,
        tally: Tally,
    ) -> None:
        self.count = count
        self.capacity = max(1, depth) * count
        self._deadline = Deadline(timeout)
        self._owner = os.getpid()
        self._tally = tally
        self._iteration = -1
        self._losses = Losses()
        self._replies = _new_replies()
        spec = replace(spec, seed_streams=False)
        self._workers: list[_Worker] = []
        self._close = weakref.finalize(self, _close, self._workers, self._replies, self._owner)
        try:
            for number in range(count):
                worker = _Worker(number, spec, dataset, self._replies)
                _start(worker)
                self._workers.append(worker)
        except BaseException:
            self.close()
            raise

    def open(self, message: Open) -> dict[int, Snapshot | None]:
        """See ``Workers.open``."""
        self._check_owner()
        self._iteration = message.iteration
        ambient = Ambient.here()
        asked = []
        for worker in self._workers:
            mine = message.at(worker.number, self.count)
            if mine:
                # Before any lane runs, so that the copies show the dataset as it is at iter().
                worker.datasets.prepare(opening.lane for opening in mine)
                asked.append((worker, _Start(replace(message, openings=mine), ambient)))
        for worker, start in asked:
            worker.ask(start)
        reports: dict[int, Snapshot | None] = {}
        failures = []
        for _ in asked:
            reply = self._next(None)
            if reply.failure is not None:
                failures.append(reply.failure)
            reports.update(reply.reports)
        if failures:
            raise failures[0].exception()
        return reports

    def renew(self, dataset: Any) -> bool:
        """See ``Workers.renew``."""
        for worker in self._workers:
            worker.datasets.renew(dataset)
        return True

    def submit(self, task: Task) -> None:
        """See ``Workers.submit``."""
        self._check_owner()
        self._workers[task.route % self.count].ask(task)

    def next_reply(self, awaited: int) -> Reply:
        """See ``Workers.next_reply``.

        Raises:
            WorkerDiedError: the user's code ended its thread, for example by ``SystemExit``.
            StaleIteratorError: this process is a fork, and the threads run in its parent.
        """
        self._check_owner()
        reply: Reply = self._next(awaited)
        return reply

    def _check_owner(self) -> None:
        if os.getpid() != self._owner:
            raise errors.StaleIteratorError(
                "this iterator's workers are threads of the process that made it "
                f"(pid {self._owner}), and a fork has none of them; call iter(loader) in this "
                "process"
            )

    def _next(self, awaited: int | None) -> Any:
        """Return the next reply; ``awaited``: the worker of the next one, ``None`` in ``open``."""
        while True:
            number, reply = self._receive(awaited)
            worker = self._workers[number]
            if isinstance(reply, _Crash):
                self._losses.add(number, _death_error(number, reply.error))
                continue
            worker.asked.popleft()
            if isinstance(reply, Reply):
                self._tally.worked(number, reply.busy)
            if reply.iteration == self._iteration:
                return reply

    def _receive(self, awaited: int | None) -> tuple[int, Opened | Reply | _Crash]:
        """Return the next reply of any thread."""
        reply = self._replies.take()
        if reply is None:
            self._deadline.begin()
            self._losses.begin()
        while reply is None:
            self._losses.check(awaited)
            excused = awaited is None or any(map(_replays, self._workers))
            self._replies.wait(self._losses.left(self._deadline.left(excused=excused)))
            reply = self._replies.take()
            if reply is None:
                self._losses.check(awaited, late=self._deadline.over(excused=excused))
                self._deadline.check(self._waited_for, excused=excused)
        return reply

    def _waited_for(self) -> str:
        names = [worker.thread.name for worker in self._workers if worker.asked]
        return f"{', '.join(names)} (threads of this process, which nothing can kill)"

    def members(self) -> list[Any]:
        """See ``Workers.members``."""
        return [worker.thread for worker in self._workers]

    def close(self) -> None:
        """See ``Workers.close``."""
        self._close()


def _new_replies() -> _Replies:
    try:
        return ReplyQueue()
    except OSError as error:
        raise errors.WorkerStartError(
            f"DataLoader workers cannot be started: {error}; raise the limit on open files "
            "(ulimit -n)"
        ) from error


def _start(worker: _Worker) -> None:
    try:
        worker.thread.start()
    except RuntimeError as error:
        raise errors.WorkerStartError(
            f"DataLoader worker {worker.number} cannot be started: {error}; raise the limit on "
            "threads (ulimit -u), or use fewer workers"
        ) from error


def _serve(
    number: int,
    host: LaneHost,
    questions: SimpleQueue[_Question | None],
    replies: _Replies,
    stopping: threading.Event,
) -> None:
    """Answer questions until the workers are closed."""
    try:
        _torch.run_lanes_in_this_thread()
        with ExitStack() as epoch:
            while (question := questions.get()) is not None and not stopping.is_set():
                if isinstance(question, _Start):
                    epoch.close()
                    epoch.enter_context(question.ambient.entered())
                    replies.put((number, host.open(question.message)))
                else:
                    replies.put((number, host.run(question)))
                del question  # a worker keeps neither the batch nor its keys alive
                replies.wake()
    except BaseException as error:
        replies.put((number, _Crash(error)))
        replies.wake()


def _replays(worker: _Worker) -> bool:
    """Tell whether a worker replays a batch, or starts an epoch."""
    first = next(iter(worker.asked), None)
    return isinstance(first, _Start) or not getattr(first, "ship", True)


def _death_error(number: int, error: BaseException) -> errors.WorkerDiedError:
    code = error.code if isinstance(error, SystemExit) and isinstance(error.code, int) else None
    hint = f"it is a thread of this process, ended by {type(error).__name__}: {error}"
    made = errors.WorkerDiedError(number, os.getpid(), code, hint)
    made.__cause__ = error
    return made


def _close(workers: list[_Worker], replies: _Replies, owner: int) -> None:
    """Let each thread exit after its current task."""
    if os.getpid() != owner:  # a fork: the threads run in its parent
        return
    for worker in workers:
        worker.stopping.set()
        worker.questions.put(None)
    # If a lane's own code dropped the last reference, its thread exits after this task.
    here = threading.current_thread()
    threads = [worker.thread for worker in workers]
    others = [thread for thread in threads if thread is not here]
    workers.clear()
    deadline = time.monotonic() + GRACE
    for thread in others:
        thread.join(max(0.0, deadline - time.monotonic()))
    left = [thread.name for thread in others if thread.is_alive()]
    if not left and here not in threads:  # else the last reference closes the pipe
        replies.close()
    if left:
        warnings.warn(
            f"{', '.join(left)}: the dataset's code has not returned for {GRACE:.0f} seconds, and "
            "a thread cannot be killed; it ends when that code returns. Workers that are "
            'processes can be ended at any time (worker_type="process")',
            errors.SlowWorkerWarning,
            stacklevel=3,
        )
