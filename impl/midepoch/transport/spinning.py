"""A moment of looking before going to sleep, where another process is about to answer.

A process that sleeps takes a system call, and a while, to wake. Where answers come within
microseconds, neither needs to sleep at all.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

__all__ = ["MOMENT", "Spin"]

MOMENT = 100e-6
"""Seconds of looking: some times what it costs to be put to sleep and woken.

It takes longer where another process has the processor in between."""

_LATE = 5
"""Times its moment, after which a look shows that programs elsewhere want the processor, too.

Sharing it with the other processes of the loader takes less."""

_LONGEST_PAUSE = 63
"""Calls that do not look."""


def _nothing() -> None:
    pass


_let_others = getattr(os, "sched_yield", _nothing)


class Spin:
    """Looks for a moment, and seldom where that finds nothing.

    Between two looks any other that waits for this processor has it: so also processes that share
    one, as there are more of them, need not sleep.

    ``seconds``: how long at most; 0 is never.

    >>> Spin(0.01).finds(lambda: True), Spin(0.01).finds(lambda: False)
    (True, False)
    """

    __slots__ = ("_pause", "_seconds", "_skip")

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._pause = self._skip = 0

    def finds(self, ready: Callable[[], bool]) -> bool:
        """Look until ``ready`` says so or the moment is over; return whether it did.

        After a look in vain, a call does not look, then 3, 7, and up to 63; after a late one, 63.
        """
        if not self._seconds:
            return False
        if self._skip:
            self._skip -= 1
            return False
        start = time.perf_counter()
        until = start + self._seconds
        found = ready()
        while not found and time.perf_counter() < until:
            _let_others()
            found = ready()
        if time.perf_counter() > start + _LATE * self._seconds:
            self._pause = _LONGEST_PAUSE
        else:
            self._pause = 0 if found else min(2 * self._pause + 1, _LONGEST_PAUSE)
        self._skip = self._pause
        return found
