"""Counters of a loader's work; ``loader.stats()`` reads them."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

__all__ = ["LoaderStats", "Tally", "size_of"]


@dataclass(frozen=True)
class LoaderStats:
    """Counts of a loader's work since its construction; nothing resets them.

    ``under_way``, ``ready`` and ``ready_bytes`` describe the newest iterator at this moment.
    """

    batches: int
    """Batches delivered, and errors delivered in place of a batch."""
    waited: float
    """Seconds that ``next()`` waited for a batch; without workers, seconds to make it."""
    seconds: float
    """Seconds from the start to the end of an iterator, summed over all iterators."""
    busy: tuple[float, ...]
    """The share of ``seconds`` in which each worker ran tasks; without workers, one number."""
    under_way: int
    """Batches that are requested from workers and not delivered yet."""
    ready: int
    """Those among them that have arrived; batches in a process's socket do not count."""
    ready_bytes: int
    """Bytes of the arrived batches: as they crossed, or of their tensors and arrays."""
    restarts: int
    """Workers replaced after their death."""
    snapshots: int
    """Snapshots of users' states taken by the lanes."""
    replayed: int
    """Batches produced again to reach a loaded position."""


class Tally:
    """The counts behind ``LoaderStats``; written by one thread, read by any."""

    def __init__(self) -> None:
        self.batches = 0
        self.waited = 0.0
        self.restarts = 0
        self.snapshots = 0
        self.replayed = 0
        self._busy: dict[int, float] = {}
        self._seconds = 0.0
        self._iterators = 0
        self._running: dict[int, float] = {}
        """The running iterators, and when each was started."""

    def worked(self, worker: int, seconds: float) -> None:
        """Count the time that a worker spent on a task."""
        self._busy[worker] = self._busy.get(worker, 0.0) + seconds

    def started(self) -> int:
        """Note that an iterator starts; return its number."""
        self._iterators += 1
        self._running[self._iterators] = time.perf_counter()
        return self._iterators

    def stopped(self, iterator: int) -> None:
        """Note that an iterator has ended; may be called again."""
        start = self._running.pop(iterator, None)
        if start is not None:
            self._seconds += time.perf_counter() - start

    def stats(self, *, under_way: int, ready: Iterable[Any]) -> LoaderStats:
        """Return the current counts; ``ready``: the data of the batches that have arrived."""
        now = time.perf_counter()
        seconds = self._seconds + sum(now - start for start in list(self._running.values()))
        busy = dict(self._busy)
        sizes = [size_of(data) for data in ready]
        return LoaderStats(
            batches=self.batches,
            waited=self.waited,
            seconds=seconds,
            busy=tuple(busy[worker] / seconds if seconds else 0.0 for worker in sorted(busy)),
            under_way=under_way,
            ready=len(sizes),
            ready_bytes=sum(sizes),
            restarts=self.restarts,
            snapshots=self.snapshots,
            replayed=self.replayed,
        )


def size_of(data: Any) -> int:
    """Return the bytes of the tensors, arrays and byte strings in a batch.

    >>> size_of({"text": b"abc", "parts": [b"12", (b"3", 4)]})
    6
    """
    if isinstance(data, (bytes, bytearray, str)):
        return len(data)
    if isinstance(data, dict):
        return sum(map(size_of, data.values()))
    if isinstance(data, (list, tuple)):
        return sum(map(size_of, data))
    size = getattr(data, "nbytes", 0)
    return size if isinstance(size, int) else 0
