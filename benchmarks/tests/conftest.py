"""No test of the benchmarks leaves a process, a thread, a descriptor or shared memory behind."""

from __future__ import annotations

from nothing_left import nothing_left

__all__ = ["nothing_left"]
