"""The measure of each kind of measurement."""

from __future__ import annotations

from collections.abc import Callable

from midepoch_benchmarks.measuring.contenders import Contender
from midepoch_benchmarks.measuring.job import Job
from midepoch_benchmarks.measuring.kernel import Calls, Faults
from midepoch_benchmarks.measuring.orders import Memory, Ordering
from midepoch_benchmarks.measuring.positions import (
    Merging,
    OfRanks,
    Resuming,
    ResumingAnywhere,
    ResumingRanks,
    Saving,
    SeededBySample,
    Size,
    Skipping,
)
from midepoch_benchmarks.measuring.rounds import Entrant
from midepoch_benchmarks.measuring.streaming import Keeping, Starting, Streaming

__all__ = ["MEASURES"]

MEASURES: dict[str, Callable[[Contender, Job], Entrant]] = {
    "throughput": Streaming,
    "snapshot": Streaming,
    "keep": Keeping,
    "start": Starting,
    "faults": Faults,
    "calls": Calls,
    "state": Saving,
    "order": Ordering,
    "order memory": Memory,
    "resume": ResumingAnywhere,
    "resume at": Resuming,
    "state size": Size,
    "skip": Skipping,
    "rank resume": ResumingRanks,
    "rank size": OfRanks,
    "rank merge": Merging,
    "rank seeds": SeededBySample,
}
