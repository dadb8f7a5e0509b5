"""One worker process: its start, its connection, and what is under way at it."""

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

from midepoch.errors import WorkerStartError
from midepoch.lane.lane import LaneSpec
from midepoch.lane.messages import Opened, Reply, Stop
from midepoch.transport.channel import Channel
from midepoch.transport.ends import LostBatchError, MainEnd, PackedBatch
from midepoch.workers.process_main import MAIN_ENDS, serve
from midepoch.workers.task_log import Ledger, Question

__all__ = ["BYTES_AHEAD", "UNANSWERED_BYTES", "ProcessWorker", "start"]

UNANSWERED_BYTES = 32 * 1024
"""Bytes of tasks under way at a worker; less than any socket holds."""

MESSAGE_BYTES = 1024
"""What a message takes of a socket's room beside its own bytes."""

UNKNOWN_AHEAD = 2
"""Tasks under way while no batch has told yet how large they are."""

BYTES_AHEAD = 256 * 1024 * 1024
"""Bytes of batches that one worker makes ahead of the consumer; a single one may be larger."""

DESCRIPTORS = 10
"""File descriptors that the start of one worker may take."""


class ProcessWorker:
    """One process, its connection and what is under way at it."""

    def __init__(
        self, number: int, process: BaseProcess, channel: Channel, ledger: Ledger, sentinel: int
    ) -> None:
        self.number = number
        self.process = process
        self.channel = channel
        self.ledger = ledger
        self.dead = False
        self.trouble = ""
        """Why it was ended from here."""
        self.sentinel = sentinel
        """Ready when the process has ended."""
        self._end = MainEnd(channel, self._taken)
        self._waiting: deque[bytes] = deque()
        self._sizes: deque[int] = deque()
        """Of the messages that were sent and not answered."""
        self._arrived = 0
        """Bytes of the batches that the consumer has not taken yet."""
        self._last: int | None = None
        """Bytes of the batch that arrived last."""

    def post(self, question: Question, *, silent: bool = False) -> None:
        """Send a message, at once or when there is room for it."""
        data = self._end.encode(question)
        self.ledger.sent(question, silent=silent)
        self._waiting.append(data)
        self.flush()

    def flush(self) -> None:
        """Send what waits, as far as there is room."""
        while self._waiting and not self.dead:
            size = len(self._waiting[0]) + MESSAGE_BYTES
            if self._sizes and sum(self._sizes) + size > UNANSWERED_BYTES:
                return
            if (self._sizes or self._arrived) and self._fills():
                return
            try:
                self.channel.send(self._waiting[0])
            except OSError:
                return  # dead: its sentinel tells
            self._waiting.popleft()
            self._sizes.append(size)

    def _fills(self) -> bool:
        """Tell whether one task more could make too much ahead of the consumer."""
        if self._last is None:
            return len(self._sizes) >= UNKNOWN_AHEAD
        return self._arrived + (len(self._sizes) + 1) * self._last > BYTES_AHEAD

    def receive(self) -> bool:
        """Read what has arrived; return False where no more will come."""
        try:
            return self.channel.receive(wait=False)
        except BlockingIOError:
            return not self.dead
        except OSError:
            return False

    def next_answer(self) -> Opened | Reply | None:
        """Return the next answer that has arrived, or ``None``.

        A worker whose answer is lost is ended: then it can be replaced as any that died.
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
        """Note that an answer waits for the consumer."""
        if isinstance(answer, Reply) and isinstance(answer.outcome, PackedBatch):
            size: int = answer.outcome.data.shared
            self._last = size
            self._arrived += size

    def _taken(self, size: int) -> None:
        self._arrived = max(0, self._arrived - size)
        self.flush()

    def forget(self) -> None:
        """Note that nobody will take the batches that have arrived."""
        self._arrived = 0

    def ask_to_stop(self) -> None:
        """Say stop, and end the connection."""
        try:
            if not self.dead:
                self.channel.send(self._end.encode(Stop()))  # few bytes are under way: it fits
        except OSError:
            pass
        self.disconnect()

    def disconnect(self) -> None:
        """End the connection."""
        self._end.close()

    def ended(self, seconds: float | None) -> bool:
        """Wait for the process to end; tell whether it has."""
        return bool(wait([self.sentinel], seconds))

    def end(self, seconds: float) -> None:
        """Wait for the process to leave, then end it, and release what is left of it."""
        if not self.ended(max(0.0, seconds)):
            self.process.terminate()
            if not self.ended(1.0):
                self.process.kill()
                self.ended(None)
        self.process.is_alive()  # reaps
        if self.sentinel != self.process.sentinel:
            os.close(self.sentinel)
        try:
            self.process.close()
        except ValueError:  # it seems to run for ever where SIGCHLD is ignored
            _forget(self.process)


def _sentinel(process: BaseProcess, context: BaseContext) -> int:
    """Return a descriptor that is ready when the process has ended.

    ``multiprocessing``'s own is a pipe, which a grandchild may inherit and keep open.
    """
    if context.get_start_method() == "forkserver":
        return process.sentinel  # the server's child: how it ended is known when the server tells
    try:
        return os.pidfd_open(process.pid or 0)
    except (AttributeError, OSError):  # an older system
        return process.sentinel


def start(
    number: int, spec: LaneSpec, dataset: Any, context: BaseContext, ledger: Ledger
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
    except BaseException:  # a Ctrl-C of these moments comes when the worker runs
        ours.close()
        if process.pid is not None:
            process.kill()
            process.join()
        raise
    finally:
        theirs.close()
    _PROCESSES.add(process)
    return ProcessWorker(number, process, channel, ledger, _sentinel(process, context))


def _reserve(count: int) -> None:
    """Raise where ``count`` descriptors are not to be had: a start that fails midway leaks."""
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
    """Let a Ctrl-C of these moments be the main process's alone.

    The worker inherits the mask, and lifts it when it ignores the signal by itself.
    """
    method = context.get_start_method()
    if method == "forkserver":  # would inherit the mask for all that it will ever start
        yield
        return
    if method == "spawn":
        resource_tracker.ensure_running()  # its own start would lift the mask
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_PROCESSES: weakref.WeakSet[BaseProcess] = weakref.WeakSet()


def _disown() -> None:
    """Let a fork of the main process forget the workers, which are not its own.

    Its copies of their sockets would keep them from seeing that the main process is gone, and at
    its end ``multiprocessing`` would terminate all daemons in its table.
    """
    for channel in list(MAIN_ENDS):
        channel.close()
    for process in list(_PROCESSES):
        _forget(process)
    _PROCESSES.clear()


def _forget(process: BaseProcess) -> None:
    """Take a process from the table of those that ``multiprocessing`` ends at exit."""
    table: set[BaseProcess] = process_module._children  # type: ignore[attr-defined]  # not public
    table.discard(process)


os.register_at_fork(after_in_child=_disown)
