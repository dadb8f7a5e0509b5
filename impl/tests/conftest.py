"""No test may leave a process, a thread, a descriptor or shared memory behind."""

from __future__ import annotations

import gc
import multiprocessing
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest


class Belongings(NamedTuple):
    """What a process holds that outlives a function."""

    children: frozenset[int]
    threads: frozenset[str]
    descriptors: frozenset[str]
    shared_memory: frozenset[str]


def belongings() -> Belongings:
    children = set(_children()) - _helpers()
    descriptors = {_target(fd) for fd in Path("/proc/self/fd").iterdir()}
    return Belongings(
        frozenset(children),
        frozenset(thread.name for thread in threading.enumerate()),
        frozenset(descriptors - {""}),
        # Others on this machine have theirs there, too: torch puts the process id into its names.
        frozenset(path.name for path in Path("/dev/shm").glob(f"*{os.getpid()}*")),
    )


def _target(fd: Path) -> str:
    try:
        return f"{fd.name}:{os.readlink(fd)}"
    except OSError:
        return ""  # the descriptor of this very listing


def _children() -> Iterator[int]:
    for task in Path("/proc/self/task").iterdir():
        try:
            yield from map(int, (task / "children").read_text().split())
        except OSError:
            continue


def _helpers() -> set[int]:
    from multiprocessing import forkserver, resource_tracker

    pids = (
        getattr(forkserver._forkserver, "_forkserver_pid", None),  # no public way to ask
        getattr(resource_tracker._resource_tracker, "_pid", None),
    )
    return {pid for pid in pids if pid is not None}


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
    forkserver.ensure_running()
