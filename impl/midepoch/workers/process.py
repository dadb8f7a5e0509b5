"""One worker process: its start, its connection, its tasks in flight and its end."""

from __future__ import annotations

import os
import signal
import socket
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import process as process_module
from multiprocessing import resource_tracker
from multiprocessing.connection import wait
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess
from typing import Any

from midepoch.errors import WorkerDiedError, WorkerStartError
from midepoch.lane.lane import LaneSpec
from midepoch.lane.messages import Opened, Reply, Stop
from midepoch.transport.channel import Channel
from midepoch.transport.ends import LostBatchError, MainEnd, PackedBatch
from midepoch.workers.process_main import MAIN_ENDS, serve
from midepoch.workers.task_log import Question, TaskLog

__all__ = [
    "BYTES_AHEAD",
    "GRACE",
    "UNANSWERED_BYTES",
    "ProcessWorker",
    "death_error",
    "release",
    "start",
]

UNANSWERED_BYTES = 32 * 1024
"""Bytes of tasks in flight at a worker; every socket has room for more."""

MESSAGE_BYTES = 1024
"""Bytes of a socket's room that a message takes beside its own."""

UNKNOWN_AHEAD = 2
"""Tasks in flight until the first batch shows how large batches are."""

BYTES_AHEAD = 256 * 1024 * 1024
"""Bytes of batches that one worker makes ahead of the consumer; a single batch may be larger."""

DESCRIPTORS = 10
"""File descriptors that the start of one worker may take."""

GRACE = 5.0
"""Seconds that a worker has to exit by itself."""

_CAUSES = {
    -7: "it is possible that the workers are out of shared memory; try to raise its limit",
    -9: "usually the system ran out of memory; use fewer workers or smaller batches",
    -11: "a compiled library crashed; run with num_workers=0 to see where",
}


class ProcessWorker:
    """One process, its connection and its tasks in flight."""

    def __init__(
        self, number: int, process: BaseProcess, channel: Channel, task_log: TaskLog, sentinel: int
    ) -> None:
        self.number = number
        self.process = process
        self.channel = channel
        self.task_log = task_log
        self.dead = False
        self.late = False
        """It has not answered within the loader's timeout."""
        self.shown = False
        """The user has the process: the loader must not close its object."""
        self.trouble = ""
        """The reason why the main process killed it."""
        self.sentinel = sentinel
        """A descriptor that is readable when the process has ended."""
        self._end = MainEnd(channel, self._taken)
        self._waiting: deque[bytes] = deque()
        self._sizes: deque[int] = deque()
        """The sizes of the messages that were sent and not answered."""
        self._arrived = 0
        """Bytes of batches that have arrived and that the consumer has not taken."""
        self._last: int | None = None
        """Bytes of the newest batch."""

    def post(self, question: Question, *, silent: bool = False) -> None:
        """Send a message, at once or when the worker has room for it."""
        data = self._end.encode(question)
        self.task_log.sent(question, silent=silent)
        self._waiting.append(data)
        self.flush()

    def flush(self) -> None:
        """Send the waiting messages for which the worker has room."""
        while self._waiting and not self.dead:
            size = len(self._waiting[0]) + MESSAGE_BYTES
            if self._sizes and sum(self._sizes) + size > UNANSWERED_BYTES:
                return
            if (self._sizes or self._arrived) and self._fills():
                return
            try:
                self.channel.send(self._waiting[0])
            except OSError:
                return  # the worker is dead: its sentinel shows it
            self._waiting.popleft()
            self._sizes.append(size)

    def _fills(self) -> bool:
        """Tell whether one more task could exceed the bytes made ahead of the consumer."""
        if self._last is None:
            return len(self._sizes) >= UNKNOWN_AHEAD
        return self._arrived + (len(self._sizes) + 1) * self._last > BYTES_AHEAD

    def receive(self) -> bool:
        """Read the messages that have arrived; return False if no more will come."""
        try:
            return self.channel.receive(wait=False)
        except BlockingIOError:
            return not self.dead
        except OSError:
            return False

    def next_answer(self) -> Opened | Reply | None:
        """Return the next answer that has arrived, or ``None``.

        If an answer is lost, the worker is killed, so that it can be replaced like a dead one.
        """
        try:
            answer = None if self.trouble else self._end.next_answer()
        except LostBatchError as error:
            self.trouble, self.dead, answer = str(error), True, None
            self.process.kill()
        if answer is None:
            return None
        self._sizes.popleft()
        return answer

    def keep(self, answer: Opened | Reply) -> None:
        """Count an answer that waits for the consumer."""
        if isinstance(answer, Reply) and isinstance(answer.outcome, PackedBatch):
            size: int = answer.outcome.data.shared
            self._last = size
            self._arrived += size

    def _taken(self, size: int) -> None:
        self._arrived = max(0, self._arrived - size)
        self.flush()

    def forget(self) -> None:
        """Drop the batches that have arrived: a new epoch will not take them."""
        self._arrived = 0

    def ask_to_stop(self) -> None:
        """Send ``Stop``, and close the connection."""
        try:
            if not self.dead:
                self.channel.send(self._end.encode(Stop()))  # few bytes are in flight: it fits
        except OSError:
            pass
        self.disconnect()

    def disconnect(self) -> None:
        """Close the connection."""
        self._end.close()

    def ended(self, seconds: float | None) -> bool:
        """Wait for the process to end; return whether it has."""
        return bool(wait([self.sentinel], seconds))

    def end(self, seconds: float) -> None:
        """Wait for the process to exit, then kill it, and free its resources."""
        if not self.ended(max(0.0, seconds)):
            self.process.terminate()
            if not self.ended(1.0):
                self.process.kill()
                self.ended(None)
        self.process.is_alive()  # reaps
        if self.sentinel != self.process.sentinel:
            os.close(self.sentinel)
        if self.shown:
            _forget(self.process)
            return
        try:
            self.process.close()
        except ValueError:  # if SIGCHLD is ignored, a dead process still seems to run
            _forget(self.process)


def death_error(worker: ProcessWorker) -> WorkerDiedError:
    """Return the error that names a dead worker, its cause of death and its task."""
    worker.ended(GRACE)
    code = worker.process.exitcode
    activity = worker.task_log.activity()
    hints = [
        "it was idle" if activity is None else f"it was {activity}",
        worker.trouble or _CAUSES.get(code or 0, "the worker's own messages are printed above"),
    ]
    return WorkerDiedError(worker.number, worker.process.pid, code, "; ".join(hints))


def release(worker: ProcessWorker) -> None:
    """Free the resources of a dead worker."""
    worker.disconnect()
    worker.end(GRACE)


def _sentinel(process: BaseProcess, context: BaseContext) -> int:
    """Return a descriptor that is readable when the process has ended.

    ``multiprocessing`` uses a pipe, which a grandchild may inherit and keep open.
    """
    if context.get_start_method() == "forkserver":
        return process.sentinel  # the server's child: only the server knows its exit code
    try:
        return os.pidfd_open(process.pid or 0)
    except (AttributeError, OSError):  # an older system
        return process.sentinel


def start(
    number: int, spec: LaneSpec, dataset: Any, context: BaseContext, task_log: TaskLog
) -> ProcessWorker:
    """Start a worker.

    Raises:
        WorkerStartError: the system has no descriptors or processes left, or the dataset (or a
            function of the loader's) cannot be handed to a new interpreter.
    """
    try:
        _reserve(DESCRIPTORS)
        ours, theirs = socket.socketpair()
    except OSError as error:
        raise _cannot_start(number, context, error) from error
    make: Callable[..., BaseProcess] = context.Process  # type: ignore[attr-defined]  # each context has one
    process = make(target=serve, args=(theirs, number, spec, dataset), daemon=True)
    channel = Channel(ours)
    MAIN_ENDS.add(channel)
    try:
        with _undisturbed(context):
            process.start()
    except Exception as error:
        ours.close()
        raise _cannot_start(number, context, error) from error
    except BaseException:  # Ctrl-C was blocked, so it arrives once the worker runs
        ours.close()
        if process.pid is not None:
            process.kill()
            process.join()
        raise
    finally:
        theirs.close()
    _PROCESSES.add(process)
    return ProcessWorker(number, process, channel, task_log, _sentinel(process, context))


def _reserve(count: int) -> None:
    """Raise unless ``count`` descriptors are free: a start that fails midway leaks some."""
    taken: list[int] = []
    try:
        while len(taken) < count:
            taken += os.pipe()
    finally:
        for descriptor in taken:
            os.close(descriptor)


def _cannot_start(number: int, context: BaseContext, error: Exception) -> WorkerStartError:
    method = context.get_start_method()
    if isinstance(error, OSError):
        todo = (
            "raise the limit on open files (ulimit -n) or on processes (ulimit -u), or use fewer "
            "workers"
        )
    elif method == "fork":
        todo = "nothing is pickled under the start method 'fork': see where the error was raised"
    else:
        todo = (
            f"under the start method {method!r} the dataset, collate_fn and worker_init_fn are "
            "pickled: define them at the top level of a module (no lambdas, no local classes), "
            "or use multiprocessing_context='fork'"
        )
    name = type(error).__name__
    return WorkerStartError(
        f"DataLoader worker {number} cannot be started: {name}: {error}; {todo}"
    )


@contextmanager
def _undisturbed(context: BaseContext) -> Iterator[None]:
    """Block Ctrl-C for the worker that starts now, so that only the main process gets it.

    The worker inherits the mask, and lifts it once it ignores the signal.
    """
    method = context.get_start_method()
    if method == "forkserver":  # the server would pass the mask on to all its later children
        yield
        return
    if method == "spawn":
        resource_tracker.ensure_running()  # starting it later would lift the mask
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_PROCESSES: weakref.WeakSet[BaseProcess] = weakref.WeakSet()


def _disown() -> None:
    """Make a fork of the main process forget the workers, which are not its children.

    With its copies of the sockets open, workers would not see that the main process is gone. When
    the fork exits, ``multiprocessing`` would terminate all daemons in its table.
    """
    for channel in list(MAIN_ENDS):
        channel.close()
    for process in list(_PROCESSES):
        _forget(process)
    _PROCESSES.clear()


def _forget(process: BaseProcess) -> None:
    """Remove a process from the table of those that ``multiprocessing`` ends at exit."""
    table: set[BaseProcess] = process_module._children  # type: ignore[attr-defined]  # not public
    table.discard(process)


os.register_at_fork(after_in_child=_disown)
