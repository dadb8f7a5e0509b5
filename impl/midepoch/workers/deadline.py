"""The deadline of a wait for workers: the loader's timeout, or a warning if it has none."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable

from midepoch.errors import SlowWorkerWarning, WorkerTimeoutError

__all__ = ["HINT", "Deadline"]

HINT = 120.0
"""Seconds without a reply after which a loader without a timeout warns which worker is late."""


class Deadline:
    """The time that one wait may take.

    ``timeout`` is in seconds. If it is 0, the deadline gives one warning instead of an error.
    """

    def __init__(self, timeout: float) -> None:
        self.timeout = timeout
        self._hinted = False
        self._began = self._since = time.monotonic()

    def begin(self) -> None:
        """Start the clock: a wait for a reply begins."""
        self._began = self._since = time.monotonic()

    def left(self, *, excused: bool) -> float | None:
        """Return the seconds until ``check`` has something to do, ``None`` for never.

        ``excused``: the task that runs now does not count against the timeout: a replay, say.
        """
        if self.timeout:
            return None if excused else max(0.0, self._since + self.timeout - time.monotonic())
        return None if self._hinted else max(0.0, self._began + HINT - time.monotonic())

    def over(self, *, excused: bool) -> bool:
        """Tell whether the loader's timeout has passed."""
        waited = 0.0 if excused else time.monotonic() - self._since
        return 0 < self.timeout <= waited

    def check(self, waited_for: Callable[[], str], *, excused: bool) -> None:
        """Raise or warn if the time is over; no reply has come so far.

        Raises:
            WorkerTimeoutError: the loader's timeout has passed.
        """
        now = time.monotonic()
        if excused:
            self._since = now
        if self.timeout:
            if self.over(excused=excused):
                raise WorkerTimeoutError(self.timeout, f"waited for {waited_for()}")
        elif not self._hinted and now - self._began >= HINT:
            self._hinted = True
            warnings.warn(
                f"no batch has come for {now - self._began:.0f} seconds: waiting for "
                f"{waited_for()}. It may be slow or stuck: look into it with "
                "`py-spy dump --pid PID`, run with num_workers=0 to see where it is, or set "
                "timeout= to make this an error",
                SlowWorkerWarning,
                stacklevel=2,
            )
