"""Worker processes: a connection each, no threads, no signal handlers.

One ``poll`` waits for answers and for deaths. A worker gets tasks only while few bytes of them
are in flight, so that both sides can never be stuck in writing at once.
"""

from __future__ import annotations

import os
import pickle
import select
import signal
import time
import weakref
from collections import deque
from multiprocessing.context import BaseContext
from typing import Any, NamedTuple

from midepoch import errors
from midepoch.lane.lane import LaneSpec
from midepoch.lane.messages import Open, Opened, Reply, Snapshot, Task
from midepoch.stateful import is_stateful
from midepoch.stats import Tally
from midepoch.workers.deadline import Deadline
from midepoch.workers.losses import Losses
from midepoch.workers.process import (
    GRACE,
    UNANSWERED_BYTES,
    ProcessWorker,
    death_error,
    release,
    start,
)
from midepoch.workers.task_log import Activity, Asked, IrreplaceableError, TaskLog

__all__ = ["UNANSWERED_BYTES", "ProcessWorkers"]

HASTE = 0.5
"""Replaces ``GRACE`` if a worker has died, or has reached the loader's timeout."""

OUTSIDE = (-signal.SIGKILL, -signal.SIGTERM)
"""Exit codes of a worker that something else may have killed: the system, a person, a manager."""

CRASHES = 2
"""Crashes in a row at the same task that show that the task is their cause."""

DEATHS = 3
"""Deaths in a row at the same task that show it, those from ``OUTSIDE`` included."""

SHOWN = 4
"""Workers that a message names at most."""


class ProcessWorkers:
    """Runs lanes in ``count`` processes; worker ``route % count`` runs a task.

    ``restarts_allowed``: how many dead workers to replace per epoch. A replacement restores its
    lanes and runs the open tasks again (FAULT-8).
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
        context: BaseContext,
        restarts_allowed: int = 0,
        tally: Tally | None = None,
    ) -> None:
        self.count = count
        self.capacity = max(1, depth) * count
        self._allowed = self._left = restarts_allowed
        self._start = spec, dataset, context
        self._deadline = Deadline(timeout)
        self._tally = tally or Tally()
        self._owner = os.getpid()
        self._iteration = -1
        self._renewed: bytes | None = None
        """The dataset of the next epoch, pickled, where it replaces the workers' copies."""
        self._answers: deque[Reply | Opened] = deque()
        self._deaths: dict[int, _Deaths] = {}
        """The deaths of each worker that was replaced."""
        self._losses = Losses()
        self._workers: list[ProcessWorker] = []
        self._poll = select.poll()
        self._handles: dict[int, ProcessWorker] = {}
        """The workers by descriptor: of the connection and of the sentinel."""
        self._close = weakref.finalize(self, _close, self._workers, self._owner)
        try:
            for number in range(count):
                task_log = TaskLog(
                    iterable=spec.iterable,
                    stateful=is_stateful(dataset),
                    remembers=restarts_allowed > 0,
                    number=spec.number,
                )
                self._workers.append(start(number, *self._start, task_log))
                self._watch(self._workers[-1])
        except BaseException:
            self.close()
            raise

    def open(self, message: Open) -> dict[int, Snapshot | None]:
        """See ``Workers.open``."""
        self._check_owner()
        self._iteration = message.iteration
        self._left = self._allowed
        self._losses.clear()
        self._answers.clear()
        for worker in self._workers:
            worker.forget()
        asked = 0
        for worker in self._workers:
            mine = message.at(worker.number, self.count)
            if mine:
                worker.post(Open(message.iteration, message.epoch, mine, dataset=self._renewed))
                asked += 1
        self._renewed = None
        reports: dict[int, Snapshot | None] = {}
        failures = []
        for _ in range(asked):
            answer = self._next(None)
            if answer.failure is not None:
                failures.append(answer.failure)
            reports.update(answer.reports)
        if failures:
            raise failures[0].exception()
        return reports

    def renew(self, dataset: Any) -> bool:
        """See ``Workers.renew``; False if the dataset cannot be pickled."""
        try:
            self._renewed = pickle.dumps(dataset, protocol=5)
        except Exception:
            return False
        spec, _, context = self._start
        self._start = spec, dataset, context
        return True

    def submit(self, task: Task) -> None:
        """See ``Workers.submit``."""
        self._workers[task.route % self.count].post(task)

    def next_reply(self, awaited: int) -> Reply:
        """See ``Workers.next_reply``."""
        self._check_owner()
        reply: Reply = self._next(awaited)
        return reply

    def _check_owner(self) -> None:
        if os.getpid() != self._owner:
            raise errors.StaleIteratorError(
                "this iterator's workers belong to the process that made it "
                f"(pid {self._owner}); call iter(loader) in this process"
            )

    def _next(self, awaited: int | None) -> Any:
        if not self._answers:
            self._wait_for_answers(awaited)
        return self._answers.popleft()

    def _wait_for_answers(self, awaited: int | None) -> None:
        """Wait for an answer; ``awaited``: the worker of the next one, ``None`` in ``open``."""
        self._deadline.begin()
        self._losses.begin()
        while not self._answers:
            for worker in self._workers:
                if worker.dead and worker.number not in self._losses:
                    self._replace_or_lose(worker)
            self._losses.check(awaited)
            opening = awaited is None
            excused = opening or any(worker.task_log.replaying for worker in self._workers)
            self._wait(self._losses.left(self._deadline.left(excused=excused)))
            if not self._answers:
                self._losses.check(awaited, late=self._deadline.over(excused=excused))
                self._check_deadline(excused=excused)

    def _check_deadline(self, *, excused: bool) -> None:
        try:
            self._deadline.check(self._waited_for, excused=excused)
        except errors.WorkerTimeoutError:
            for worker in self._workers:
                worker.late = bool(worker.task_log.asked)
            raise

    def _watch(self, worker: ProcessWorker) -> None:
        for descriptor in (worker.channel.fileno(), worker.sentinel):
            self._poll.register(descriptor, select.POLLIN)
            self._handles[descriptor] = worker

    def _unwatch(self, worker: ProcessWorker) -> None:
        watched = [fd for fd, known in self._handles.items() if known is worker]
        for descriptor in watched:
            self._poll.unregister(descriptor)
            del self._handles[descriptor]

    def _wait(self, timeout: float | None) -> None:
        """Wait for messages and deaths; read the messages, also the last ones of a dead worker."""
        for descriptor, _ in self._poll.poll(None if timeout is None else timeout * 1000):
            worker = self._handles.get(descriptor)
            if worker is None or worker.dead:
                continue
            if descriptor == worker.sentinel:
                worker.dead = True
                while worker.receive():
                    pass
            elif not worker.receive():
                worker.dead = True
            while worker.number not in self._losses:
                answer = worker.next_answer()
                if answer is None:
                    break
                self._accept(worker, answer)
            worker.flush()

    def _accept(self, worker: ProcessWorker, message: Opened | Reply) -> None:
        worker.late = False
        try:
            news = worker.task_log.answered(message)
        except IrreplaceableError as error:
            cause = error.__cause__ or error
            self._lose(worker, _irreplaceable(self._deaths[worker.number].error, cause))
            return
        if isinstance(message, Reply):
            self._tally.worked(worker.number, message.busy)
        if news and message.iteration == self._iteration:
            self._answers.append(message)
            worker.keep(message)

    def _replace_or_lose(self, worker: ProcessWorker) -> None:
        """Start a process that continues as the dead worker, or note that it is lost."""
        death = death_error(worker)
        deaths = _Deaths.of(worker, death, self._deaths.get(worker.number))
        hint = None
        if deaths.blame:
            hint = (
                f"{deaths.before} also died while it was {deaths.activity}: "
                "check the data and the code of that step"
            )
        elif not self._left:
            hint = "worker_restarts=N replaces dead workers, up to N times in an epoch"
            if self._allowed:
                hint = f"worker_restarts={self._allowed} are used up for this epoch"
        if hint is not None:
            self._lose(worker, _with_hint(death, hint))
            return
        try:
            again = worker.task_log.start_over(self._iteration)
            successor = start(worker.number, *self._start, worker.task_log)
        except (IrreplaceableError, errors.WorkerStartError) as error:
            self._lose(worker, _irreplaceable(death, error))
            return
        self._replace(worker, successor, again)
        self._deaths[worker.number] = deaths

    def _lose(self, worker: ProcessWorker, error: errors.WorkerDiedError) -> None:
        """Note that a worker is lost; the error comes when its batch is the next one."""
        worker.dead = True
        self._unwatch(worker)
        self._losses.add(worker.number, error)

    def _replace(self, worker: ProcessWorker, successor: ProcessWorker, again: list[Asked]) -> None:
        self._left -= 1
        self._tally.restarts += 1
        self._workers[worker.number] = successor
        self._unwatch(worker)
        self._watch(successor)
        release(worker)
        for asked in again:
            successor.post(asked.question, silent=asked.silent)

    def _waited_for(self) -> str:
        busy = [worker for worker in self._workers if worker.task_log.asked and not worker.dead]
        names = [
            f"worker {worker.number} (pid {worker.process.pid}), {worker.task_log.activity()}"
            for worker in busy[:SHOWN]
        ]
        more = [f"{len(busy) - SHOWN} more"] if len(busy) > SHOWN else []
        return "; ".join(names + more)

    def close(self) -> None:
        """See ``Workers.close``."""
        self._close()

    def members(self) -> list[Any]:
        """See ``Workers.members``; the processes can still be asked when they have ended."""
        for worker in self._workers:
            worker.shown = True
        return [worker.process for worker in self._workers]


class _Deaths(NamedTuple):
    """Deaths in a row of one worker and its replacements, at the same task."""

    activity: Activity | None
    """The task; ``None``: the worker was idle."""
    error: errors.WorkerDiedError
    """The last death."""
    number: int
    crashes: int
    """Those that cannot have come from outside."""

    @classmethod
    def of(
        cls, worker: ProcessWorker, error: errors.WorkerDiedError, before: _Deaths | None
    ) -> _Deaths:
        """Return the deaths with a new one."""
        activity = worker.task_log.activity()
        crashed = bool(worker.trouble) or error.exitcode not in OUTSIDE
        if before is None or activity is None or activity != before.activity:
            return cls(activity, error, 1, crashed)
        return cls(activity, error, before.number + 1, before.crashes + crashed)

    @property
    def blame(self) -> bool:
        """Whether the task kills its workers, as far as this process can tell."""
        return self.crashes >= CRASHES or self.number >= DEATHS

    @property
    def before(self) -> str:
        """The workers that died before, in words."""
        return "the previous worker" if self.number == 2 else "the previous two workers"


def _irreplaceable(death: errors.WorkerDiedError, error: BaseException) -> errors.WorkerDiedError:
    made = _with_hint(death, f"it cannot be replaced: {type(error).__name__}: {error}")
    made.__cause__ = error
    return made


def _with_hint(death: errors.WorkerDiedError, hint: str) -> errors.WorkerDiedError:
    return errors.WorkerDiedError(death.worker, death.pid, death.exitcode, f"{death.hint}; {hint}")


def _close(workers: list[ProcessWorker], owner: int) -> None:
    """Stop all workers: ask, wait, then end them."""
    if os.getpid() != owner:  # a fork of the main process: the workers are not its children
        return
    for worker in workers:
        worker.ask_to_stop()
    # After a death the loader is about to raise an error. Other workers may hang: they may be
    # waiting for the dead one. A late worker was given the loader's timeout already.
    grace = HASTE if any(worker.dead or worker.late for worker in workers) else GRACE
    deadline = time.monotonic() + grace
    for worker in workers:
        worker.end(deadline - time.monotonic())
    workers.clear()
