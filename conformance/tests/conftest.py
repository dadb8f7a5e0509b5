"""What holds for every test of the suite: nothing of it is left when it ends."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from midepoch_conformance.processes import keepers, living

FAKES = Path(__file__).parent / "fakes"


def _processes() -> set[int]:
    return set(living(os.getpid()) or ()) - keepers()


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
    """Fail a test after which a process, a thread or a descriptor of it lives on."""
    processes, threads = _processes(), set(threading.enumerate())
    descriptors = _descriptors()
    yield
    until = time.monotonic() + 5
    while True:
        left = {
            "processes": _processes() - processes,
            "threads": set(threading.enumerate()) - threads,
            "descriptors": _descriptors() - descriptors,
        }
        if not any(left.values()) or time.monotonic() > until:
            break
        time.sleep(0.01)
    assert not {what: which for what, which in left.items() if which}


@pytest.fixture
def fakes() -> Path:
    """Return the folder of the fake loaders."""
    return FAKES
