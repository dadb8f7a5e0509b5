"""What a loader's states and resumes cost, as measured beside the verdicts (pure)."""

from __future__ import annotations

import dataclasses

__all__ = ["EARLY", "LATE", "Measured"]

EARLY, LATE = 10, 10_000
"""The batches after which states are measured."""


@dataclasses.dataclass(frozen=True)
class Measured:
    """The figures of one plain epoch that is stopped early and late."""

    kind: str
    """The kind of workload."""
    workers: int
    """The number of workers."""
    codec: str
    """The encoding of the states: the safest to read that works."""
    early: int | None = None
    """The bytes of a state after :data:`EARLY` batches."""
    late: int | None = None
    """The bytes of a state after :data:`LATE` batches."""
    refetched: int | None = None
    """The samples that a late resume fetches until its first batch, beyond those of a fresh run;
    None if the loader's fetches cannot be counted."""
    first: float | None = None
    """The seconds from building the loader to the first batch after a late resume."""
    fresh: float | None = None
    """The seconds from building the loader to the first batch of a fresh run."""
    trouble: str = ""
    """Why figures are missing."""
