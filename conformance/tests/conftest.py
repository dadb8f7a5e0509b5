"""Fixtures of the suite's tests; no test may leave anything behind."""

from __future__ import annotations

import os
import subprocess
import threading
import time
import types
from collections.abc import Iterator
from pathlib import Path

import pytest
from warm_hosts import PLAIN, WarmHosts

from midepoch_conformance.host.processes import adopt_orphans, keepers, living
from midepoch_conformance.run import host_process

FAKES = Path(__file__).parent / "fakes"


def _processes() -> set[int]:
    return set(living(os.getpid()) or ()) - keepers()


def _shared_memory() -> set[str]:
    """Return the segments of torch's."""
    return {path.name for path in Path("/dev/shm").glob("torch_*")}


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
    # What loses its parent on the way comes to this process, where it is seen.
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
    assert not {what: which for what, which in left.items() if which}


@pytest.fixture
def fakes() -> Path:
    """Return the folder of the fake loaders."""
    return FAKES


@pytest.fixture(scope="session")
def warm_processes() -> Iterator[WarmHosts]:
    """Keep the processes that hosts are forked from."""
    hosts = WarmHosts()
    yield hosts
    hosts.close()


@pytest.fixture
def warm_hosts(warm_processes: WarmHosts, monkeypatch: pytest.MonkeyPatch) -> WarmHosts:
    """Fork the hosts of this test's runners; they start with ``warm_hosts.modules`` imported."""
    warm_processes.modules = PLAIN
    forking = types.SimpleNamespace(**{**vars(subprocess), "Popen": warm_processes.start})
    monkeypatch.setattr(host_process, "subprocess", forking)
    return warm_processes
