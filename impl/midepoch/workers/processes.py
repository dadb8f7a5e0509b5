"""Worker processes: a pipe each, no threads, no signal handlers.

A worker's death is seen in the same ``connection.wait`` that waits for answers. Tasks are sent
only while few bytes of them are under way at a worker, so that neither side can be stuck
writing while the other is.
"""

from __future__ import annotations

import os
import time
import weakref
from collections import deque
from collections.abc import Callable
from multiprocessing.connection import Connection, wait
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess
from typing import Any

from midepoch import errors
from midepoch.lanes import LaneSpec
from midepoch.messages import Message, Open, Opened, Reply, Snapshot, Stop, Task, decode, encode
from midepoch.workers.serving import MAIN_ENDS, serve

__all__ = ["ProcessWorkers"]

UNANSWERED_BYTES = 32 * 1024
"""Bytes of tasks under way at a worker; less than any pipe holds."""

GRACE = 5.0
"""Seconds that a worker has to leave by itself."""

HASTE = 0.5
"""The same where another worker has died."""

_HINTS = {
    -7: "it is possible that the workers are out of shared memory; try to raise its limit",
    -9: "usually the system ran out of memory; use fewer workers or smaller batches",
    -11: "a compiled library crashed; run with num_workers=0 to see where",
}


class _Worker:
    """One process, its pipe and what is under way at it."""

    def __init__(self, number: int, process: BaseProcess, pipe: Connection) -> None:
        self.number = number
        self.process = process
        self.pipe = pipe
        self.waiting: deque[bytes] = deque()
        self.unanswered: deque[int] = deque()
        self.dead = False

    def post(self, message: Message) -> None:
        self.waiting.append(encode(message))
        self.flush()

    def flush(self) -> None:
        while self.waiting and not self.dead:
            size = len(self.waiting[0])
            if self.unanswered and sum(self.unanswered) + size > UNANSWERED_BYTES:
                return
            try:
                self.pipe.send_bytes(self.waiting[0])
            except OSError:
                return  # dead: its sentinel tells
            self.waiting.popleft()
            self.unanswered.append(size)

    def receive(self) -> Any:
        """Return the next message, or ``None`` where the pipe has ended."""
        try:
            data = self.pipe.recv_bytes()
        except (EOFError, OSError):
            return None
        self.unanswered.popleft()
        self.flush()
        return decode(data)

    def has_message(self) -> bool:
        try:
            return self.pipe.poll(0)
        except (EOFError, OSError):
            return False


class ProcessWorkers:
    """Runs lanes in ``count`` processes; worker ``route % count`` runs a task."""

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
    ) -> None:
        self.count = count
        self.capacity = max(1, depth) * count
        self._timeout = timeout or None
        self._turn = -1
        self._answers: deque[Reply | Opened] = deque()
        self._workers: list[_Worker] = []
        self._close = weakref.finalize(self, _close, self._workers, os.getpid())
        try:
            for number in range(count):
                self._workers.append(_start(number, spec, dataset, context))
        except BaseException:
            self.close()
            raise

    def open(self, message: Open) -> dict[int, Snapshot | None]:
        """See ``Workers.open``."""
        self._turn = message.turn
        self._answers.clear()
        asked = 0
        for worker in self._workers:
            mine = tuple(o for o in message.openings if self._hosts(worker.number, o.lane, message))
            if mine:
                worker.post(Open(message.turn, message.epoch, mine))
                asked += 1
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

    def _hosts(self, worker: int, lane: int, message: Open) -> bool:
        # Fewer lanes than workers: each lane may be asked of any of them.
        return len(message.openings) < self.count or lane % self.count == worker

    def submit(self, task: Task) -> None:
        """See ``Workers.submit``."""
        self._workers[task.route % self.count].post(task)

    def next_reply(self) -> Reply:
        """See ``Workers.next_reply``."""
        reply: Reply = self._next(self._timeout)
        return reply

    def _next(self, timeout: float | None) -> Any:
        deadline = None if timeout is None else time.monotonic() + timeout
        while not self._answers:
            dead = next((worker for worker in self._workers if worker.dead), None)
            if dead is not None:
                raise _obituary(dead)
            left = None if deadline is None else deadline - time.monotonic()
            if timeout is not None and left is not None and left <= 0:
                raise errors.WorkerTimeoutError(timeout)
            self._wait(left)
        return self._answers.popleft()

    def _wait(self, timeout: float | None) -> None:
        """Receive what is there, from the living and the dead."""
        handles: dict[Any, _Worker] = {}
        for worker in self._workers:
            handles[worker.pipe] = handles[worker.process.sentinel] = worker
        for handle in wait(list(handles), timeout):
            worker = handles[handle]
            if handle is worker.pipe:
                self._accept(worker)
            else:
                while worker.has_message() and not worker.dead:
                    self._accept(worker)
                worker.dead = True

    def _accept(self, worker: _Worker) -> None:
        message = worker.receive()
        if message is None:
            worker.dead = True
        elif message.turn == self._turn:
            self._answers.append(message)

    def close(self) -> None:
        """See ``Workers.close``."""
        self._close()

    def pids(self) -> list[int | None]:
        """Return the workers' process ids."""
        return [worker.process.pid for worker in self._workers]


def _start(number: int, spec: LaneSpec, dataset: Any, context: BaseContext) -> _Worker:
    ours, theirs = context.Pipe()
    MAIN_ENDS.add(ours)
    make: Callable[..., BaseProcess] = context.Process  # type: ignore[attr-defined]  # each context has one
    process = make(target=serve, args=(theirs, number, spec, dataset), daemon=True)
    try:
        process.start()
    except BaseException:
        ours.close()
        raise
    finally:
        theirs.close()
    return _Worker(number, process, ours)


def _obituary(worker: _Worker) -> errors.WorkerDiedError:
    worker.process.join(GRACE)
    code = worker.process.exitcode
    hint = _HINTS.get(code or 0, "its own messages are above")
    return errors.WorkerDiedError(worker.number, worker.process.pid, code, hint)


def _close(workers: list[_Worker], owner: int) -> None:
    """Stop all workers: ask, wait, then end them."""
    if os.getpid() != owner:  # a fork of the main process: the workers are not its own
        return
    stop = encode(Stop())
    for worker in workers:
        try:
            if not worker.dead:
                worker.pipe.send_bytes(stop)  # few bytes are under way: there is room
        except OSError:
            pass
        worker.pipe.close()
    # After a death an error is on its way to the user, and others may wait for the dead one.
    grace = HASTE if any(worker.dead for worker in workers) else GRACE
    deadline = time.monotonic() + grace
    for worker in workers:
        worker.process.join(max(0.0, deadline - time.monotonic()))
        if worker.process.is_alive():
            worker.process.terminate()
            worker.process.join(1.0)
        if worker.process.is_alive():
            worker.process.kill()
            worker.process.join()
        worker.process.close()
    workers.clear()
