"""The processes, threads and descriptors that a session holds (standard library only).

Only Linux tells what a process holds; on other systems nothing is known.
"""

from __future__ import annotations

import contextlib
import gc
import os
import time
from collections.abc import Callable

from midepoch_conformance.host.system.processes import keepers, living

__all__ = ["Holdings"]

_POLL = 0.02


class Holdings:
    """Counts the processes, threads and descriptors that exist since :meth:`begin` was called.

    Args:
        spared: returns the descriptor that does not count; it is asked at each count.
    """

    def __init__(self, spared: Callable[[], int]) -> None:
        self._spared = spared
        self._before: dict[str, set[int]] | None = None
        self._first: dict[str, int] | None = None

    def begin(self) -> None:
        """Note what exists now: it does not count."""
        self._before = _found()

    def count(self, seconds: float) -> dict[str, int] | None:
        """Return what is held now, or None if the system does not tell.

        From the second count on, the numbers have up to ``seconds`` to come down to the first
        count: a process that is about to exit is not held.
        """
        until = time.monotonic() + seconds
        while True:
            # Nothing uses an object that only a cycle keeps alive.
            gc.collect()
            held = self._held()
            if held is None:
                return None
            if self._first is None:
                self._first = held
            if all(held[name] <= most for name, most in self._first.items()):
                return held
            if time.monotonic() > until:
                return held
            time.sleep(_POLL)  # no event tells that a thread or a descriptor is gone

    def _held(self) -> dict[str, int] | None:
        found, before = _found(), self._before
        if found is None or before is None:
            return None
        found["descriptors"].discard(self._spared())
        return {name: len(there - before[name]) for name, there in found.items()}


def _found() -> dict[str, set[int]] | None:
    """Return the processes below this one, its threads and its descriptors."""
    here = os.getpid()
    processes = living(here)
    if processes is None:
        return None
    return {
        "processes": set(processes) - keepers(),
        "threads": _numbers("/proc/self/task"),
        "descriptors": {fd for fd in _numbers("/proc/self/fd") if _is_open(fd)},
    }


def _is_open(fd: int) -> bool:
    """Return whether a descriptor is open: the one that listed them is closed by now."""
    with contextlib.suppress(OSError):
        os.fstat(fd)
        return True
    return False


def _numbers(folder: str) -> set[int]:
    return {int(name) for name in os.listdir(folder)}
