"""The machine of the measurements."""

from __future__ import annotations

import contextlib
import importlib.metadata
import os
import platform
import statistics
import time
from typing import Any

__all__ = ["described"]

_TRIPS = 400
"""The number of messages that are sent there and back."""

_PACKAGES = ("torch", "torchdata", "midepoch", "grain", "numpy")


def described() -> dict[str, Any]:
    """Return the processor, cores, bytes of memory, kernel, versions, load and round trip."""
    versions = {}
    for name in _PACKAGES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            versions[name] = importlib.metadata.version(name)
    return {
        "cpu": _cpu(),
        "cores": len(os.sched_getaffinity(0)),
        "memory": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "kernel": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "versions": versions,
        "load": [round(load, 2) for load in os.getloadavg()],
        "round_trip": _round_trip(),
    }


def _round_trip() -> float:
    """Return the seconds in which a byte goes to another process and comes back, by pipes.

    A loader that sleeps until a worker answers cannot be faster: waking a process takes this time.
    """
    there, back = os.pipe(), os.pipe()
    child = os.fork()
    if not child:
        try:
            os.close(there[1])
            while data := os.read(there[0], 1):
                os.write(back[1], data)
        finally:
            os._exit(0)
    os.close(there[0])
    trips = []
    for _ in range(_TRIPS):
        start = time.perf_counter()
        os.write(there[1], b"x")
        os.read(back[0], 1)
        trips.append(time.perf_counter() - start)
    for descriptor in (there[1], *back):
        os.close(descriptor)
    os.waitpid(child, 0)
    return statistics.median(trips)


def _cpu() -> str:
    with contextlib.suppress(OSError), open("/proc/cpuinfo", encoding="ascii") as lines:
        for line in lines:
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
