"""The life of a worker process."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
import weakref
from multiprocessing.connection import Connection, wait
from typing import Any

import torch

from midepoch import _torch
from midepoch.lanes import LaneSpec
from midepoch.messages import (
    Batch,
    Failure,
    Fetch,
    Finish,
    Open,
    Opened,
    Reply,
    Stop,
    decode,
    encode,
)
from midepoch.workers.hosting import LaneDatasets, LaneHost
from midepoch.workers.transport import pack

__all__ = ["serve"]

LOOK_UP = 5.0
"""Seconds after which an idle worker looks whether the main process still lives.

Its death is seen at once through a pipe, unless a process that was forked in between keeps the
other end open."""


MAIN_ENDS: weakref.WeakSet[Connection] = weakref.WeakSet()
"""The main process's ends of all pipes, of which a forked worker inherits copies."""


def serve(pipe: Connection, number: int, spec: LaneSpec, dataset: Any) -> None:
    """Run messages until the main process says stop, or is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the main process decides what Ctrl-C means
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})  # blocked while it was started
    for connection in list(MAIN_ENDS):
        connection.close()  # an open copy would hide from another worker that its pipe has ended
    if spec.single_thread:
        torch.set_num_threads(1)
    host = LaneHost(spec, LaneDatasets(spec, dataset, own=True))
    where = f"in DataLoader worker process {number}"
    home = os.getppid()
    try:
        while _main_lives(pipe, home):
            message = decode(pipe.recv_bytes())
            if isinstance(message, Stop):
                return
            pipe.send_bytes(_answer(host, message, where))
    except (EOFError, OSError):
        return  # the main process is gone, or wants nothing more


def _main_lives(pipe: Connection, home: int) -> bool:
    """Wait for a message; return False where the main process has ended."""
    parent = multiprocessing.parent_process()
    while True:
        ready = wait([pipe, parent.sentinel] if parent is not None else [pipe], LOOK_UP)
        if pipe in ready:
            return True
        if ready or os.getppid() != home:
            return False


def _answer(host: LaneHost, message: Open | Fetch | Finish, where: str) -> bytes:
    if isinstance(message, Open):
        opened = host.open(message)
        if opened.failure is None:
            return encode(opened)
        return _encode_failure(Opened(opened.turn, None, {}), opened.failure, where)
    start = time.perf_counter()
    reply = host.run(message)
    if isinstance(reply.outcome, Failure):
        return _encode_failure(reply, reply.outcome, where)
    if not isinstance(reply.outcome, Batch):
        return encode(reply)
    try:
        reply.outcome = pack(reply.outcome)
    except Exception as error:
        return _encode_failure(reply, Failure(error), where)
    reply.busy = time.perf_counter() - start
    return encode(reply)


def _encode_failure(answer: Opened | Reply, failure: Failure, where: str) -> bytes:
    """Encode an error with its traceback; as a RuntimeError where its type does not travel."""
    error = failure.error
    wrapped = _torch.wrap(error, where) if isinstance(error, BaseException) else error
    try:
        data = encode(_with(answer, Failure(wrapped)))
        decode(data)
        return data
    except Exception:
        wrapped.exc_type = RuntimeError
        return encode(_with(answer, Failure(wrapped)))


def _with(answer: Opened | Reply, failure: Failure) -> Opened | Reply:
    if isinstance(answer, Opened):
        return Opened(answer.turn, failure, {})
    return Reply(answer.turn, answer.slot, failure, answer.snapshot, answer.busy)
