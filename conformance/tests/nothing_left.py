"""A fixture for every test of the suite and the benchmarks: nothing is left when a test ends."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from midepoch_conformance.host.system.processes import adopt_orphans, keepers, living

__all__ = ["nothing_left"]


def _processes() -> set[int]:
    return set(living(os.getpid()) or ()) - keepers()


def _shared_memory() -> set[str]:
    """Return the segments of torch's."""
    return {name for name in os.listdir("/dev/shm") if name.startswith("torch_")}


def _managed() -> bool:
    """Tell whether a manager of torch's sharing strategy ``file_system`` lives on this machine.

    It removes what is in its charge when the processes of its loader are gone, which may be long
    after the worker that made it: tests run beside each other, and one of them measures that.
    """
    names = (path.read_text() for path in Path("/proc").glob("[0-9]*/comm") if path.exists())
    try:
        return any(name.startswith("torch_shm_manag") for name in names)
    except OSError:  # one ended while its name was read: ask again
        return _managed()


def _left_behind(segments: set[str]) -> set[str]:
    """Return those whose names tell of a maker that is gone, or that is this process.

    Others on this machine have theirs there, too: torch puts the maker's number into a name.
    """
    makers = {name: name.split("_")[1] for name in segments}
    own = {name for name, maker in makers.items() if maker == str(os.getpid())}
    gone = {name for name, maker in makers.items() if not Path("/proc", maker).exists()}
    return own | (set() if gone and _managed() else gone)


def _descriptors() -> set[str]:
    """Return the open descriptors with what they lead to."""
    found = set()
    for fd in os.listdir("/proc/self/fd"):
        try:
            found.add(f"{fd} -> {os.readlink(f'/proc/self/fd/{fd}')}")
        except FileNotFoundError:
            continue
    return found


@pytest.fixture(autouse=True)
def nothing_left(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test after which a process, a thread, a descriptor or shared memory is left."""
    # A process that loses its parent becomes a child of this one, which sees it.
    adopt_orphans()
    processes, threads = _processes(), set(threading.enumerate())
    descriptors, shared = _descriptors(), _shared_memory()
    yield
    until = time.monotonic() + 5
    while True:
        left = {
            "processes": _processes() - processes,
            "threads": set(threading.enumerate()) - threads,
            "descriptors": _descriptors() - descriptors,
            "shared memory": _left_behind(_shared_memory() - shared),
        }
        if not any(left.values()) or time.monotonic() > until:
            break
        time.sleep(0.01)
    # Other tests of this process look for orphans by themselves.
    adopt_orphans(False)
    found = {what: which for what, which in left.items() if which}
    if found:
        pytest.fail(f"the test leaves {found}")
