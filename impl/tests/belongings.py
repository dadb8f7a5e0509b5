"""The resources of a process: children, threads, descriptors, shared memory."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple


class Belongings(NamedTuple):
    """The resources of a process that outlive a function."""

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
        frozenset(name for name in os.listdir("/dev/shm") if f"_{os.getpid()}_" in name),
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
