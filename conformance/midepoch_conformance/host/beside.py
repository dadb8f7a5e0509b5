"""Another loader in the same process: a program trains on one and validates on another one."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

from midepoch_conformance.case.adapter import Adapter, Session
from midepoch_conformance.host.job import Job

__all__ = ["AnotherLoader"]


class AnotherLoader:
    """A loader of the same data and execution, under another seed and without any faults.

    Nobody looks at its batches: it shows only what it does to the loader beside it.

    Args:
        adapter: opens it.
        job: the session that it is beside.
    """

    def __init__(self, adapter: Adapter, job: Job) -> None:
        w = dataclasses.replace(
            job.workload, seed=job.workload.seed + 1, adopts=False, fail_at=None, log=None
        )
        self._session: Session = adapter.open(w, job.execution, job.root)
        self._epoch: Iterator[Any] | None = None

    def deliver(self, n: int) -> None:
        """Deliver ``n`` batches, of the next epoch where one ends."""
        for _ in range(n):
            if self._epoch is None:
                self._epoch = iter(self._session.epoch())
            if next(self._epoch, None) is None:
                self._epoch = None

    def close(self) -> None:
        """Close it as a session is closed."""
        self._epoch = None
        self._session.close()
