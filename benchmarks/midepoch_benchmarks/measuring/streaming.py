"""Measures of a stream: seconds per batch, to the first batch, and with every batch kept."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from midepoch_benchmarks.measuring.contenders import Contender
from midepoch_benchmarks.measuring.job import Job

__all__ = ["Keeping", "Starting", "Streaming", "closed"]

_FEWEST = 8
"""The least batches of a round, and the most batches between two looks at the clock."""

_KEPT = 96
"""The batches that a consumer keeps in a round."""

_REST = 0.1
"""The most seconds that workers have to become idle after a round."""


class Streaming:
    """Seconds a batch, from an epoch without end.

    The first batches of a round are not timed: the workers prefetched them after the round before.
    After a round the workers get time to become idle, so that they do not disturb other
    contenders' rounds.
    """

    def __init__(self, contender: Contender, job: Job) -> None:
        setting = job.setting()
        self.seconds = job.seconds
        self.loader = contender.open(setting)
        self.batches: Iterator[Any] = iter(self.loader)
        self.ahead = 4 * setting.workers + 4
        # Workers may still be making these batches when a round ends.
        self.unmade = 2 * setting.workers + 1 if setting.workers else 0
        self.warm_up()

    def warm_up(self) -> None:
        """Take the first batches, which start workers, touch memory and fill pools."""
        self.take(2 * self.ahead)
        self.round()

    def take(self, count: int) -> None:
        """Take this many batches and drop them."""
        batches = self.batches
        for _ in range(count):
            next(batches)

    def round(self) -> float:
        """Return seconds a batch."""
        self.take(self.ahead)
        start = now = time.perf_counter()
        taken = 0
        while now - start < self.seconds:
            self.take(_FEWEST)
            taken += _FEWEST
            now = time.perf_counter()
        return self.rested((now - start) / taken)

    def rested(self, pace: float) -> float:
        """Return ``pace``, seconds per batch, after the workers had time to become idle."""
        time.sleep(min(_REST, self.unmade * pace))
        return pace

    def close(self) -> None:
        """Drop the iterator and the loader."""
        del self.batches
        closed(self.loader)
        del self.loader


class Keeping(Streaming):
    """Seconds a batch if the consumer keeps all batches of the round."""

    def round(self) -> float:
        """Return seconds a batch."""
        self.take(self.ahead)
        batches = self.batches
        start = time.perf_counter()
        kept = [next(batches) for _ in range(_KEPT)]
        taken = time.perf_counter() - start
        del kept
        return self.rested(taken / _KEPT)


class Starting:
    """Seconds from building a loader to its first batch."""

    def __init__(self, contender: Contender, job: Job) -> None:
        self.contender, self.setting = contender, job.setting()
        self.round()

    def round(self) -> float:
        """Return seconds to the first batch."""
        start = time.perf_counter()
        loader = self.contender.open(self.setting)
        batches = iter(loader)
        next(batches)
        taken = time.perf_counter() - start
        del batches
        closed(loader)
        return taken

    def close(self) -> None:
        """Do nothing: no loader outlives its round."""


def closed(loader: Any) -> None:
    """Close a loader that has ``close``; any other is dropped by its last owner."""
    if hasattr(loader, "close"):
        loader.close()
