"""The life of a worker process."""

from __future__ import annotations

import multiprocessing
import os
import signal
import socket
import struct
import time
import weakref
from dataclasses import replace
from typing import Any

import torch
from torch.utils.data import default_collate

from midepoch import _torch
from midepoch.errors import MidepochError
from midepoch.lane.host import LaneDatasets, LaneHost
from midepoch.lane.lane import LaneSpec
from midepoch.lane.messages import (
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
from midepoch.transport.channel import Channel
from midepoch.transport.ends import WorkerEnd

__all__ = ["MAIN_ENDS", "serve"]

LOOK_UP = 5
"""Seconds after which an idle worker checks that the main process still lives.

The socket shows its death at once, unless another fork of the main process keeps its end open."""


MAIN_ENDS: weakref.WeakSet[Channel] = weakref.WeakSet()
"""The main process's ends of all connections. A forked worker inherits copies of them."""


def serve(theirs: socket.socket, number: int, spec: LaneSpec, dataset: Any) -> None:
    """Answer messages until the main process says stop, or is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the main process decides what Ctrl-C means
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})  # the start blocked it
    for channel in list(MAIN_ENDS):
        channel.close()  # with an open copy another worker would not see its socket end
    if spec.single_thread:
        torch.set_num_threads(1)
    # A read with a timeout takes one system call; a poll before it would take another.
    theirs.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", LOOK_UP, 0))
    channel = Channel(theirs)
    end = WorkerEnd(channel)
    if spec.collate is default_collate:
        spec = replace(spec, collate=end.collating.collate)
    host = LaneHost(spec, LaneDatasets(spec, dataset, own=True))
    where = f"in DataLoader worker process {number}"
    home = os.getppid()
    try:
        while True:
            question = end.next_question()
            if isinstance(question, Stop):
                return
            if question is not None:
                _answer(end, host, question, where)
            elif not _receive(channel, home):
                return
    except OSError:
        return  # the main process is gone, or has closed the connection


def _receive(channel: Channel, home: int) -> bool:
    """Wait for messages; return False if the main process has ended."""
    parent = multiprocessing.parent_process()
    while True:
        try:
            return channel.receive()
        except BlockingIOError:
            if os.getppid() != home or (parent is not None and not parent.is_alive()):
                return False


def _answer(end: WorkerEnd, host: LaneHost, question: Open | Fetch | Finish, where: str) -> None:
    if isinstance(question, Open):
        opened = host.open(question)
        if opened.failure is not None:
            end.send(_encode_failure(Opened(opened.iteration, None, {}), opened.failure, where))
        else:
            end.send(encode(opened))
        return
    start = time.perf_counter()
    end.collating.begin()
    reply = host.run(question)
    if isinstance(reply.outcome, Failure):
        end.send(_encode_failure(reply, reply.outcome, where))
    elif not isinstance(reply.outcome, Batch):
        end.send(encode(reply))
    else:
        try:
            packed = end.pack(reply.outcome)
        except Exception as error:
            end.send(_encode_failure(reply, Failure(error), where))
        else:
            end.ship(reply, packed, start)


def _encode_failure(answer: Opened | Reply, failure: Failure, where: str) -> bytes:
    """Encode an error with its traceback; as a RuntimeError if its type cannot be pickled."""
    error = failure.error
    if isinstance(error, MidepochError):
        # Its message says all, and torch's wrapper would not keep its type.
        return encode(_with(answer, failure))
    wrapped = _torch.wrap(error, where) if isinstance(error, BaseException) else error
    try:
        data = encode(_with(answer, replace(failure, error=wrapped)))
        decode(data)
        return data
    except Exception:
        wrapped.exc_type = RuntimeError
        return encode(_with(answer, replace(failure, error=wrapped)))


def _with(answer: Opened | Reply, failure: Failure) -> Opened | Reply:
    if isinstance(answer, Opened):
        return Opened(answer.iteration, failure, {})
    return replace(answer, outcome=failure)
