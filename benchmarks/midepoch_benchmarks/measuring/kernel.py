"""Measures of work for the kernel: page faults and system calls."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

from midepoch_benchmarks.measuring.contenders import (
    Contender,
    NotMeasuredError,
    NotOfferedError,
)
from midepoch_benchmarks.measuring.job import Job
from midepoch_benchmarks.measuring.streaming import Streaming

__all__ = ["Calls", "Faults"]

_BATCHES = 200
_PATIENCE = 20.0


class Faults(Streaming):
    """Page faults a batch in the worker, which reports its own count with each sample."""

    def round(self) -> float:
        """Return faults a batch."""
        self.take(self.ahead)
        before = self._count()
        self.take(_BATCHES - 1)
        return (self._count() - before) / _BATCHES

    def _count(self) -> int:
        batch = next(self.batches)
        if len(batch) != 2:
            raise NotOfferedError("its batches are not collated, so the counts are not found")
        return int(batch[1][-1])


class Calls(Streaming):
    """System calls a batch, of the process that makes more of them, counted by ``strace``."""

    def __init__(self, contender: Contender, job: Job) -> None:
        self.strace = shutil.which("strace")
        if self.strace is None:
            raise NotMeasuredError("strace is not installed: system calls are not counted")
        others = _children()
        super().__init__(contender, job)
        self.processes = [os.getpid(), *(_children() - others)]

    def warm_up(self) -> None:
        """Take the first batches; the processes are not known yet."""
        self.take(_BATCHES)

    def round(self) -> float:
        """Return calls a batch."""
        return max(map(self._calls, self.processes)) / _BATCHES

    def _calls(self, pid: int) -> int:
        """Return how many calls a process makes while batches are taken."""
        with tempfile.NamedTemporaryFile("r", prefix="midepoch-strace-") as summary:
            command = [str(self.strace), "-c", "-f", "-o", summary.name, "-p", str(pid)]
            tracer = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
            # The first line says that strace is attached, or why it is not.
            said = tracer.stderr.readline() if tracer.stderr is not None else ""
            try:
                if "attached" not in said:
                    raise NotMeasuredError(f"strace may not look at a process here: {said.strip()}")
                self.take(_BATCHES)
            finally:
                tracer.send_signal(signal.SIGINT)
                tracer.communicate(timeout=_PATIENCE)
            return total_calls(summary.read())


def total_calls(summary: str) -> int:
    """Return the number of calls in the last line of the output of ``strace -c``.

    >>> total_calls("% time  seconds  usecs/call  calls  errors syscall\\n"
    ...             "100.00  0.000063  0  105  2 total\\n")
    105
    """
    for line in reversed(summary.splitlines()):
        columns = line.split()
        if columns and columns[-1] == "total":
            return int(columns[3])
    return 0


def _children() -> set[int]:
    """Return the processes that this one has started, by any means."""
    found: set[int] = set()
    for task in Path("/proc/self/task").iterdir():
        found.update(map(int, (task / "children").read_text(encoding="ascii").split()))
    return found
