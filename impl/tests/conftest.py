"""No test may leave a process, a thread, a descriptor or shared memory behind."""

from __future__ import annotations

import gc
import multiprocessing
import signal
import threading
from collections.abc import Iterator

import pytest
from belongings import Belongings, belongings
from connection import Connection

# Tests send SIGINT, which the background jobs of a shell ignore.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def nothing_left(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test that leaves something behind."""
    if "helpers" in request.fixturenames:
        start_helpers()
    before = belongings()
    yield
    multiprocessing.active_children()  # reaps
    after = belongings()
    if any(now - was for was, now in zip(before, after, strict=True)):
        gc.collect()  # what a test's failed assertion or a caught error still holds
        for thread in threading.enumerate():
            if thread.name == "QueueFeederThread":
                thread.join(10)  # torch's own loader, the peer in some tests, does not wait for it
        after = belongings()
    for name, was, now in zip(Belongings._fields, before, after, strict=True):
        left = now - was
        assert not left, f"{name} left behind: {sorted(map(str, left))}"


@pytest.fixture
def helpers() -> None:
    """Ask for the processes of other start methods than fork, which stay once started."""


def start_helpers() -> None:
    from multiprocessing import forkserver, resource_tracker

    resource_tracker.ensure_running()
    # Each process that it starts would import these by itself, which takes seconds.
    forkserver.set_forkserver_preload(["midepoch", "torch.distributed.checkpoint"])
    forkserver.ensure_running()


@pytest.fixture
def connection() -> Iterator[Connection]:
    """Return a worker's connection with both ends in this process."""
    made = Connection()
    yield made
    made.close()


@pytest.fixture
def classic() -> Iterator[None]:
    """Let the threads of the classic loaders, which outlive their loaders by a little, end."""
    yield
    for thread in threading.enumerate():
        if thread.name == "QueueFeederThread":
            gc.collect()
            thread.join(30)
