"""Measures of the shuffled order: seconds per index, and memory."""

from __future__ import annotations

import resource
import time
from typing import Any

from midepoch_benchmarks.measuring.contenders import (
    Contender,
    NotOfferedError,
    Setting,
)
from midepoch_benchmarks.measuring.datasets import Indices
from midepoch_benchmarks.measuring.job import Job
from midepoch_benchmarks.measuring.streaming import closed

__all__ = ["Memory", "Ordering"]

_BLOCK = 1 << 14
"""The indices of a batch: so many that the cost of a batch itself does not show."""


_INDICES = 1 << 20
"""The indices of a round: as many as an epoch of the smallest case has."""

_STORED = 1 << 20
"""The most samples for which a loader that stores its order is measured."""


def ordered(contender: Contender, n: int) -> Any:
    """Return a loader that delivers lists of shuffled indices.

    Raises:
        NotOfferedError: the contender makes the whole order first, and it is long.
    """
    if n > _STORED and not getattr(contender, "computes_order", False):
        raise NotOfferedError(f"it makes the whole order of {n:,} samples before the first")
    return contender.open(Setting(Indices(n), shuffle=True, batch_size=_BLOCK, as_it_is=True))


class Ordering:
    """Processor seconds an index of the shuffled order, delivered as lists of Python numbers.

    Each round is a new epoch, or the beginning of one. The order is only
    computed, without any waiting, so processor time leaves out the machine's other work.
    """

    def __init__(self, contender: Contender, job: Job) -> None:
        self.loader = ordered(contender, job.parameters["n"])
        self.round()

    def round(self) -> float:
        """Return processor seconds an index."""
        indices = 0
        start = time.process_time()
        for batch in self.loader:
            indices += len(batch)
            if indices >= _INDICES:
                break
        return (time.process_time() - start) / indices

    def close(self) -> None:
        """Drop the loader."""
        closed(self.loader)
        del self.loader


class Memory:
    """Bytes by which the process's peak grows from the order of few samples to that of many."""

    def __init__(self, contender: Contender, job: Job) -> None:
        self.contender, self.parameters = contender, job.parameters
        self._run(self.parameters["small"])

    def _run(self, n: int) -> int:
        loader = ordered(self.contender, n)
        batches = iter(loader)
        for _ in range(16):
            next(batches)
        del batches
        closed(loader)
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    def round(self) -> float:
        """Return bytes."""
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return 1024.0 * (self._run(self.parameters["large"]) - before)

    def close(self) -> None:
        """Do nothing: no loader outlives its round."""
