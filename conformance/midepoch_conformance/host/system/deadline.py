"""The deadline of a process: its limit, and later while it makes progress (standard library)."""

from __future__ import annotations

import contextlib
import os
import time

from midepoch_conformance.host.system.processes import processor_time

__all__ = ["BUSY", "SPINS", "STANDS", "Deadline"]

STANDS, SPINS, BUSY = "hang", "spins", "busy"
"""The words for a process whose time was up. It stood still; it only used the processor; or it
delivered, fetched or printed something, or nobody looked long enough to know."""


class Deadline:
    """The deadline of a process: its limit, and later while it makes progress.

    On a busy machine a session needs more time. A process that uses the processor, or that writes
    into the play's folder (a delivered batch, a fetch, a line that it prints), makes progress and
    does not hang yet. After ``most`` limits its time is up in any case.

    Args:
        pid: the process.
        limit: the seconds that it has.
        folder: the folder of the play; None if there is none.
        most: the number of limits after which its time is up in any case.
    """

    MOST = 4
    _WORKING = 0.05

    def __init__(
        self, pid: int, limit: float, folder: str | None = None, most: float = MOST
    ) -> None:
        self.pid, self.limit, self.folder, self.most = pid, limit, folder, most
        self.began = time.monotonic()
        self.looks = self.began + 0.25 * limit
        self.used: tuple[float, int] | None = None
        self._delivered: int | None = None
        self.did = BUSY
        """STANDS, SPINS or BUSY, by the last looks before the time was up."""

    def left(self) -> float:
        """Return the seconds until the next look; 0 when the time is up."""
        now = time.monotonic()
        if now < self.looks:
            return self.looks - now
        used, before = (processor_time(self.pid), _bytes_in(self.folder)), self.used
        delivered = _bytes_in(self.folder, but="output")
        if before is None:
            self._delivered = delivered
        else:
            worked = used[0] - before[0] >= self._WORKING * 0.25 * self.limit
            busy = worked or used[1] != before[1]
            idle = self.folder is not None and delivered == self._delivered
            self.did = (SPINS if idle else BUSY) if busy else STANDS
            limits = (now - self.began) / self.limit
            if limits >= (self.most if busy else 1):
                return 0.0
        self.used, self.looks = used, now + 0.25 * self.limit
        return self.looks - now


def _bytes_in(folder: str | None, but: str = "") -> int:
    """Return the size of a folder's own files but one."""
    total = 0
    if folder is not None:
        with contextlib.suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                with contextlib.suppress(OSError):
                    if entry.name != but and entry.is_file(follow_symlinks=False):
                        total += entry.stat(follow_symlinks=False).st_size
    return total
